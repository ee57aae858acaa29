#pragma once

#include <errno.h>
#include <seccomp.h>

/* Function-like macros are not visible from Swift. */
static const uint32_t shim_kill_process = SCMP_ACT_KILL_PROCESS;
static const uint32_t shim_allow = SCMP_ACT_ALLOW;
static inline uint32_t shim_fail_with(int number) { return SCMP_ACT_ERRNO(number); }
static inline struct scmp_arg_cmp shim_masked_equal(unsigned argument, uint64_t mask, uint64_t value) {
    return (struct scmp_arg_cmp){argument, SCMP_CMP_MASKED_EQ, mask, value};
}
static inline struct scmp_arg_cmp shim_equal(unsigned argument, uint64_t value) {
    return (struct scmp_arg_cmp){argument, SCMP_CMP_EQ, value, 0};
}
