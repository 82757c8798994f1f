/* Counts what a process does to files below some folders and, at the n-th time, ends it or lets the call fail.
 *
 * Loaded with LD_PRELOAD. It does nothing until fault_attach() or the variable FAULT_CONTROL names a control file,
 * which is mapped and shared by every process of one run, so that children count on. What it keeps in there is
 * struct control below; faults.py writes and reads the same. With a trace file in it, each counted call adds a line
 * "number process nanoseconds operation bytes path".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum mode { OFF, KILL_BEFORE, KILL_HALF, KILL_AFTER, FULL, BROKEN_ONCE, BROKEN };
enum kind { GROWS, SHRINKS, SYNCS, NAMES };

struct control {
    int64_t count, nth, mode, fired, bytes;
    char pad[24];
    char under[1984]; /* folders, each ended by a line feed */
    char trace[2048];
};

static struct control *control;
static int trace = -1;

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

__attribute__((visibility("default"))) int fault_attach(const char *path) {
    int handle = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (handle < 0) return -1;
    void *memory = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
    syscall(SYS_close, handle);
    if (memory == MAP_FAILED) return -1;
    control = memory;
    if (control->trace[0])
        trace = syscall(SYS_openat, AT_FDCWD, control->trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return 0;
}

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("FAULT_CONTROL");
    if (path && *path) fault_attach(path);
}

static int is_below(const char *path) {
    for (const char *folder = control->under; *folder;) {
        size_t length = strcspn(folder, "\n");
        if (!strncmp(path, folder, length) && (path[length] == '/' || !path[length])) return 1;
        folder += length + (folder[length] == '\n');
    }
    return 0;
}

static int path_of_handle(int handle, char *into) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, into, PATH_MAX - 1);
    if (length <= 0 || into[0] != '/') return 0;
    into[length] = 0;
    return 1;
}

static int path_of_name(int folder, const char *name, char *into) {
    if (!name) return 0;
    if (name[0] == '/') {
        snprintf(into, PATH_MAX, "%s", name);
        return 1;
    }
    char base[PATH_MAX];
    if (folder == AT_FDCWD ? !getcwd(base, sizeof base) : !path_of_handle(folder, base)) return 0;
    return snprintf(into, PATH_MAX, "%s/%s", base, name) < PATH_MAX;
}

static void die(void) {
    kill(0, SIGKILL); /* the whole group: a power cut spares no child */
    for (;;) pause();
}

/* What a call has to do: 0 goes on, 1 goes on halfway and dies, 2 goes on and dies, 3 fails with errno set. */
static int counted(const char *path, enum kind kind, const char *operation, size_t bytes) {
    int before = errno;
    if (!is_below(path)) return 0;
    int64_t number = __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST);
    if (kind == GROWS) __atomic_add_fetch(&control->bytes, bytes, __ATOMIC_SEQ_CST);
    if (trace >= 0) {
        char line[PATH_MAX + 128];
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int length = snprintf(line, sizeof line, "%lld %d %lld %s %zu %s\n", (long long)number, (int)getpid(),
                              (long long)now.tv_sec * 1000000000 + now.tv_nsec, operation, bytes, path);
        syscall(SYS_write, trace, line, length);
    }
    errno = before;
    int hit = control->nth > 0 && number == control->nth, later = control->nth > 0 && number > control->nth;
    if (hit) control->fired = 1;
    switch (control->mode) {
    case KILL_BEFORE:
        if (hit) die();
        return 0;
    case KILL_HALF:
        if (hit) return 1;
        return 0;
    case KILL_AFTER:
        if (hit) return 2;
        return 0;
    case FULL:
        if ((hit || later) && kind == GROWS) {
            errno = ENOSPC;
            return 3;
        }
        return 0;
    case BROKEN_ONCE:
        if (!hit) return 0;
        errno = EIO;
        return 3;
    case BROKEN:
        if (!hit && !later) return 0;
        errno = EIO;
        return 3;
    default:
        return 0;
    }
}

static int on_handle(int handle, enum kind kind, const char *operation, size_t bytes) {
    char path[PATH_MAX];
    int before = errno;
    int found = control && path_of_handle(handle, path);
    errno = before;
    return found ? counted(path, kind, operation, bytes) : 0;
}

static int on_name(int folder, const char *name, enum kind kind, const char *operation) {
    char path[PATH_MAX];
    int before = errno;
    int found = control && path_of_name(folder, name, path);
    errno = before;
    return found ? counted(path, kind, operation, 0) : 0;
}

/* `whole` is the call, `half` the same with half of the bytes; both are evaluated at most once. */
#define GUARDED(what, failure, half, whole) \
    switch (what) { \
    case 1: (void)(half); die(); return failure; \
    case 2: (void)(whole); die(); return failure; \
    case 3: return failure; \
    default: return whole; \
    }

#define PUBLIC __attribute__((visibility("default")))

PUBLIC ssize_t write(int handle, const void *data, size_t size) {
    REAL(write);
    GUARDED(on_handle(handle, GROWS, "write", size), -1, real(handle, data, size / 2), real(handle, data, size))
}

PUBLIC ssize_t pwrite(int handle, const void *data, size_t size, off_t at) {
    REAL(pwrite);
    GUARDED(on_handle(handle, GROWS, "write", size), -1, real(handle, data, size / 2, at), real(handle, data, size, at))
}

PUBLIC ssize_t pwrite64(int handle, const void *data, size_t size, off64_t at) {
    REAL(pwrite64);
    GUARDED(on_handle(handle, GROWS, "write", size), -1, real(handle, data, size / 2, at), real(handle, data, size, at))
}

static size_t total(const struct iovec *parts, int count) {
    size_t size = 0;
    for (int i = 0; i < count; i++) size += parts[i].iov_len;
    return size;
}

PUBLIC ssize_t writev(int handle, const struct iovec *parts, int count) {
    REAL(writev);
    int what = control ? on_handle(handle, GROWS, "write", total(parts, count)) : 0;
    GUARDED(what, -1, real(handle, parts, count / 2), real(handle, parts, count))
}

PUBLIC ssize_t pwritev(int handle, const struct iovec *parts, int count, off_t at) {
    REAL(pwritev);
    int what = control ? on_handle(handle, GROWS, "write", total(parts, count)) : 0;
    GUARDED(what, -1, real(handle, parts, count / 2, at), real(handle, parts, count, at))
}

PUBLIC ssize_t pwritev64(int handle, const struct iovec *parts, int count, off64_t at) {
    REAL(pwritev64);
    int what = control ? on_handle(handle, GROWS, "write", total(parts, count)) : 0;
    GUARDED(what, -1, real(handle, parts, count / 2, at), real(handle, parts, count, at))
}

PUBLIC size_t fwrite(const void *data, size_t size, size_t count, FILE *file) {
    REAL(fwrite);
    GUARDED(control ? on_handle(fileno(file), GROWS, "write", size * count) : 0, 0,
            (real(data, size, count / 2, file), fflush(file)), real(data, size, count, file))
}

PUBLIC ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *into, size_t size, unsigned flags) {
    REAL(copy_file_range);
    GUARDED(on_handle(to, GROWS, "copy", size), -1, real(from, at, to, into, size / 2, flags),
            real(from, at, to, into, size, flags))
}

PUBLIC ssize_t sendfile(int to, int from, off_t *at, size_t size) {
    static ssize_t (*real)(int, int, off_t *, size_t);
    if (!real) real = (ssize_t(*)(int, int, off_t *, size_t))dlsym(RTLD_NEXT, "sendfile");
    GUARDED(on_handle(to, GROWS, "copy", size), -1, real(to, from, at, size / 2), real(to, from, at, size))
}

PUBLIC ssize_t sendfile64(int to, int from, off64_t *at, size_t size) {
    static ssize_t (*real)(int, int, off64_t *, size_t);
    if (!real) real = (ssize_t(*)(int, int, off64_t *, size_t))dlsym(RTLD_NEXT, "sendfile64");
    GUARDED(on_handle(to, GROWS, "copy", size), -1, real(to, from, at, size / 2), real(to, from, at, size))
}

PUBLIC int fsync(int handle) {
    REAL(fsync);
    GUARDED(on_handle(handle, SYNCS, "fsync", 0), -1, 0, real(handle))
}

PUBLIC int fdatasync(int handle) {
    REAL(fdatasync);
    GUARDED(on_handle(handle, SYNCS, "fsync", 0), -1, 0, real(handle))
}

PUBLIC int ftruncate(int handle, off_t size) {
    REAL(ftruncate);
    GUARDED(on_handle(handle, SHRINKS, "truncate", 0), -1, 0, real(handle, size))
}

PUBLIC int ftruncate64(int handle, off64_t size) {
    REAL(ftruncate64);
    GUARDED(on_handle(handle, SHRINKS, "truncate", 0), -1, 0, real(handle, size))
}

PUBLIC int fallocate(int handle, int how, off_t at, off_t size) {
    REAL(fallocate);
    GUARDED(on_handle(handle, GROWS, "allocate", 0), -1, 0, real(handle, how, at, size))
}

PUBLIC int fallocate64(int handle, int how, off64_t at, off64_t size) {
    REAL(fallocate64);
    GUARDED(on_handle(handle, GROWS, "allocate", 0), -1, 0, real(handle, how, at, size))
}

PUBLIC int posix_fallocate(int handle, off_t at, off_t size) {
    REAL(posix_fallocate);
    GUARDED(on_handle(handle, GROWS, "allocate", 0), errno, 0, real(handle, at, size))
}

PUBLIC int posix_fallocate64(int handle, off64_t at, off64_t size) {
    REAL(posix_fallocate64);
    GUARDED(on_handle(handle, GROWS, "allocate", 0), errno, 0, real(handle, at, size))
}

PUBLIC int rename(const char *from, const char *to) {
    REAL(rename);
    GUARDED(on_name(AT_FDCWD, to, NAMES, "rename"), -1, 0, real(from, to))
}

PUBLIC int renameat(int folder, const char *from, int other, const char *to) {
    REAL(renameat);
    GUARDED(on_name(other, to, NAMES, "rename"), -1, 0, real(folder, from, other, to))
}

PUBLIC int renameat2(int folder, const char *from, int other, const char *to, unsigned flags) {
    REAL(renameat2);
    GUARDED(on_name(other, to, NAMES, "rename"), -1, 0, real(folder, from, other, to, flags))
}

PUBLIC int link(const char *from, const char *to) {
    REAL(link);
    GUARDED(on_name(AT_FDCWD, to, GROWS, "link"), -1, 0, real(from, to))
}

PUBLIC int linkat(int folder, const char *from, int other, const char *to, int flags) {
    REAL(linkat);
    GUARDED(on_name(other, to, GROWS, "link"), -1, 0, real(folder, from, other, to, flags))
}

PUBLIC int symlink(const char *from, const char *to) {
    REAL(symlink);
    GUARDED(on_name(AT_FDCWD, to, GROWS, "link"), -1, 0, real(from, to))
}

PUBLIC int unlink(const char *name) {
    REAL(unlink);
    GUARDED(on_name(AT_FDCWD, name, NAMES, "unlink"), -1, 0, real(name))
}

PUBLIC int unlinkat(int folder, const char *name, int flags) {
    REAL(unlinkat);
    GUARDED(on_name(folder, name, NAMES, "unlink"), -1, 0, real(folder, name, flags))
}

PUBLIC int rmdir(const char *name) {
    REAL(rmdir);
    GUARDED(on_name(AT_FDCWD, name, NAMES, "unlink"), -1, 0, real(name))
}

PUBLIC int mkdir(const char *name, mode_t mode) {
    REAL(mkdir);
    GUARDED(on_name(AT_FDCWD, name, GROWS, "mkdir"), -1, 0, real(name, mode))
}

PUBLIC int mkdirat(int folder, const char *name, mode_t mode) {
    REAL(mkdirat);
    GUARDED(on_name(folder, name, GROWS, "mkdir"), -1, 0, real(folder, name, mode))
}

static int opening(int folder, const char *name, int flags) {
    return flags & (O_CREAT | O_TRUNC) ? on_name(folder, name, GROWS, "create") : 0;
}

#define MODE_OF(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        mode = va_arg(more, mode_t); \
        va_end(more); \
    }

PUBLIC int open(const char *name, int flags, ...) {
    REAL(open);
    MODE_OF(flags)
    GUARDED(opening(AT_FDCWD, name, flags), -1, 0, real(name, flags, mode))
}

PUBLIC int open64(const char *name, int flags, ...) {
    REAL(open64);
    MODE_OF(flags)
    GUARDED(opening(AT_FDCWD, name, flags), -1, 0, real(name, flags, mode))
}

PUBLIC int openat(int folder, const char *name, int flags, ...) {
    REAL(openat);
    MODE_OF(flags)
    GUARDED(opening(folder, name, flags), -1, 0, real(folder, name, flags, mode))
}

PUBLIC int openat64(int folder, const char *name, int flags, ...) {
    REAL(openat64);
    MODE_OF(flags)
    GUARDED(opening(folder, name, flags), -1, 0, real(folder, name, flags, mode))
}
