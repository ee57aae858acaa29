#pragma once

#include <errno.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* One inline function per call shape that Swift cannot see: variadic calls, macros, GNU-only structures. */

static const uint64_t shim_size_unknown = MHD_SIZE_UNKNOWN;
static const ssize_t shim_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t shim_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;

struct shim_server {
    void *context;
    MHD_AccessHandlerCallback handle;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    void (*log)(void *context, const char *line);
    unsigned connections;
    unsigned idle_seconds;
    size_t connection_memory;
};

static inline void shim_log(void *context, const char *format, va_list arguments) {
    const struct shim_server *server = (const struct shim_server *)context;
    char line[512];
    vsnprintf(line, sizeof line, format, arguments);
    server->log(server->context, line);
}

/* Leaves the escapes of the target alone: they are decoded per path segment, where %2F and %00 can be told apart. */
static inline size_t shim_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

/* `server` must stay where it is until MHD_stop_daemon has returned. */
static inline struct MHD_Daemon *shim_start(const struct shim_server *server, int listening) {
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, server->handle,
        server->context, MHD_OPTION_EXTERNAL_LOGGER, shim_log, (void *)server, MHD_OPTION_LISTEN_SOCKET, listening,
        MHD_OPTION_NOTIFY_COMPLETED, server->completed, server->context, MHD_OPTION_NOTIFY_CONNECTION,
        server->connection, server->context, MHD_OPTION_CONNECTION_LIMIT, server->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, server->idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        server->connection_memory, MHD_OPTION_UNESCAPE_CALLBACK, shim_keep_escapes, NULL, MHD_OPTION_END);
}

static inline int shim_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline void *shim_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* struct ucred is GNU-only, hence not in Swift's Glibc. Same layout; see unix(7). */
struct shim_peer {
    int32_t pid;
    uint32_t uid, gid;
};

static inline int shim_peer_credentials(int fd, struct shim_peer *peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(fd, SOL_SOCKET, 17 /* SO_PEERCRED */, peer, &length);
}

/* The peer's supplementary groups, socket(7). Returns how many there are, or -errno; ERANGE when over `room`. */
static inline int shim_peer_groups(int fd, uint32_t *groups, unsigned room) {
    socklen_t length = room * (socklen_t)sizeof *groups;
    if (getsockopt(fd, SOL_SOCKET, 59 /* SO_PEERGROUPS */, groups, &length) != 0) return -errno;
    return (int)(length / sizeof *groups);
}

/* A sockaddr_un from bytes. Returns its length, or 0 when the path does not fit. */
static inline socklen_t shim_unix_address(const uint8_t *path, size_t length, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    if (length == 0 || length >= sizeof address->sun_path) return 0;
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
}
static inline int shim_bind(int fd, const struct sockaddr_un *address, socklen_t length) {
    return bind(fd, (const struct sockaddr *)address, length);
}
static inline int shim_connect(int fd, const struct sockaddr_un *address, socklen_t length) {
    return connect(fd, (const struct sockaddr *)address, length);
}
