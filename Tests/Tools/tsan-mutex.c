/* Shows ThreadSanitizer what Swift's Mutex does when threads contend for it.

   The uncontended path is compiled into our code and instrumented there; the contended one lies in
   libswiftSynchronization, which is not, so ThreadSanitizer sees two threads in one critical section and calls it a
   race. Preloaded, this stands before the library's functions and says "acquired" and "released" for them. It hides
   nothing else: state that is reached without its lock is still reported.

   Build: clang -O1 -shared -fPIC -o libtsan-mutex.so tsan-mutex.c   Use: LD_PRELOAD=…/libtsan-mutex.so swift test … */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define swift __attribute__((swiftcall))
#define self __attribute__((swift_context)) void *mutex

/* In the sanitizer's runtime; absent in programs that are built without it, such as swift itself. */
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static void *next(const char *symbol) {
    void *found = dlsym(RTLD_NEXT, symbol);
    if (!found) abort(); /* another version of Swift: look the names up anew with nm -D */
    return found;
}

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

swift void lock_slow(uint32_t thread, self) __asm__(LOCK);
swift void lock_slow(uint32_t thread, self) {
    ((swift void (*)(uint32_t, self))next(LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

swift bool try_lock_slow(self) __asm__(TRY_LOCK);
swift bool try_lock_slow(self) {
    bool taken = ((swift bool (*)(self))next(TRY_LOCK))(mutex);
    if (taken && __tsan_acquire) __tsan_acquire(mutex);
    return taken;
}

swift void unlock_slow(self) __asm__(UNLOCK);
swift void unlock_slow(self) {
    if (__tsan_release) __tsan_release(mutex);
    ((swift void (*)(self))next(UNLOCK))(mutex);
}
