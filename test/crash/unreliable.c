/*
 * A machine that can't be relied on, between a program and the C library (LD_PRELOAD): calls that
 * change files below a folder fail at random, a failed fsync loses what was written before it, and
 * the clock may be wrong. See unreliable.ts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/*
 * Of each kind one call of so many fails with `error`; none where it is 0. The next so many fsyncs
 * (`spared`) do not.
 */
struct rules {
  int32_t error, syncs, writes, names;
  int64_t seconds;
  uint64_t failed;
  int32_t spared;
};

/* Parts of a file that were written since its last fsync, and when it was last seen to change. */
struct file {
  struct file *next;
  char name[64];
  struct timespec changed;
  int count, room;
  struct { off_t start, length; } *parts;
};

static struct rules *rules;
static const char *folder, *disk;
static size_t folder_length;
static struct file *files;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("UNRELIABLE_RULES");
  folder = getenv("UNRELIABLE_FOLDER");
  disk = getenv("UNRELIABLE_DISK");
  int fd = path && folder ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *map = mmap(NULL, sizeof *rules, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  folder_length = strlen(folder);
  if (map != MAP_FAILED) rules = map;
  close(fd);
}

static int is_below(const char *path) {
  return rules && path && !strncmp(path, folder, folder_length);
}

static int is_ours(int fd) {
  if (!rules) return 0;
  char link[40], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_below(path);
}

static int fails(int32_t one_in) {
  static _Thread_local uint64_t state;
  if (one_in <= 0) return 0;
  if (!state) state = (uint64_t)(uintptr_t)&state ^ ((uint64_t)getpid() << 32) ^ (uint64_t)clock();
  state = state * 6364136223846793005u + 1442695040888963407u;
  if ((state >> 33) % (uint64_t)one_in) return 0;
  __atomic_add_fetch(&rules->failed, 1, __ATOMIC_RELAXED);
  errno = rules->error;
  return 1;
}

/* An inode's number comes again, the time when it was made does not. */
static int name_file(int fd, char *name, size_t size) {
  struct statx facts;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME | STATX_TYPE, &facts)) return 0;
  if (!S_ISREG(facts.stx_mode)) return 0;
  snprintf(name, size, "%llu-%lld-%u", (unsigned long long)facts.stx_ino,
           (long long)facts.stx_btime.tv_sec, facts.stx_btime.tv_nsec);
  return 1;
}

static struct file *file_of(const char *name) {
  for (struct file *file = files; file; file = file->next) {
    if (!strcmp(file->name, name)) return file;
  }
  struct file *file = calloc(1, sizeof *file);
  if (!file) abort();
  strcpy(file->name, name);
  file->next = files;
  return files = file;
}

static void note_part(struct file *file, off_t start, off_t length) {
  if (file->count == file->room) {
    file->room = file->room * 2 + 8;
    file->parts = realloc(file->parts, file->room * sizeof *file->parts);
    if (!file->parts) abort();
  }
  file->parts[file->count].start = start;
  file->parts[file->count++].length = length;
}

static void note_write(int fd, off_t start, off_t length) {
  char name[64];
  if (!disk || length <= 0 || !name_file(fd, name, sizeof name)) return;
  pthread_mutex_lock(&lock);
  struct file *file = file_of(name);
  note_part(file, start, length);
  struct stat facts;
  if (!fstat(fd, &facts)) file->changed = facts.st_mtim;
  pthread_mutex_unlock(&lock);
}

/* The disk gets what was written since the last fsync, or, as with Linux, never gets it. */
static void note_sync(int fd, int is_done) {
  char name[64], path[4096];
  if (!disk || !name_file(fd, name, sizeof name)) return;
  pthread_mutex_lock(&lock);
  struct file *file = file_of(name);
  snprintf(path, sizeof path, "%s/%s", disk, name);
  int copy = is_done ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int source = copy < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  struct stat facts;
  if (fstat(fd, &facts)) abort();
  /* Bun makes some system calls without the library: then all of the file counts as written. */
  if (memcmp(&file->changed, &facts.st_mtim, sizeof facts.st_mtim)) {
    note_part(file, 0, facts.st_size);
    file->changed = facts.st_mtim;
  }
  if (source >= 0) {
    static char buffer[1 << 16];
    for (int part = 0; part < file->count; part++) {
      off_t at = file->parts[part].start, end = at + file->parts[part].length;
      while (at < end) {
        size_t size = end - at < (off_t)sizeof buffer ? (size_t)(end - at) : sizeof buffer;
        ssize_t got = pread(source, buffer, size, at);
        if (got <= 0) break;
        if (pwrite(copy, buffer, (size_t)got, at) != got) abort();
        at += got;
      }
    }
    if (ftruncate(copy, facts.st_size)) abort();
    close(source);
  }
  if (copy >= 0) close(copy);
  file->count = 0;
  pthread_mutex_unlock(&lock);
}

/* Files are as old as the clock says that is wrong. */
static void note_time(int fd) {
  if (!rules->seconds) return;
  struct timespec now[2];
  clock_gettime(CLOCK_REALTIME, &now[0]);
  now[1] = now[0];
  futimens(fd, now);
}

static int sync_file(int fd, int (*real)(int)) {
  if (!is_ours(fd)) return real(fd);
  int is_spared = __atomic_load_n(&rules->spared, __ATOMIC_RELAXED) > 0 &&
                  __atomic_fetch_sub(&rules->spared, 1, __ATOMIC_RELAXED) > 0;
  int result = !is_spared && fails(rules->syncs) ? -1 : real(fd);
  int error = errno;
  note_sync(fd, result == 0);
  errno = error;
  return result;
}

int fsync(int fd) {
  REAL(fsync);
  return sync_file(fd, real);
}

int fdatasync(int fd) {
  REAL(fdatasync);
  return sync_file(fd, real);
}

static ssize_t wrote(int fd, off_t start, ssize_t result) {
  note_time(fd);
  note_write(fd, start, result);
  return result;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(write);
  if (!is_ours(fd)) return real(fd, bytes, size);
  if (fails(rules->writes)) return -1;
  off_t start = lseek(fd, 0, SEEK_CUR);
  return wrote(fd, start, real(fd, bytes, size));
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  if (!is_ours(fd)) return real(fd, parts, count);
  if (fails(rules->writes)) return -1;
  off_t start = lseek(fd, 0, SEEK_CUR);
  return wrote(fd, start, real(fd, parts, count));
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t start) {
  REAL(pwrite64);
  if (!is_ours(fd)) return real(fd, bytes, size, start);
  if (fails(rules->writes)) return -1;
  return wrote(fd, start, real(fd, bytes, size, start));
}

int ftruncate64(int fd, off64_t size) {
  REAL(ftruncate64);
  if (is_ours(fd) && fails(rules->writes)) return -1;
  return real(fd, size);
}

int rename(const char *from, const char *to) {
  REAL(rename);
  return is_below(to) && fails(rules->names) ? -1 : real(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  REAL(renameat);
  return is_below(to) && fails(rules->names) ? -1 : real(from_folder, from, to_folder, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  REAL(linkat);
  return is_below(to) && fails(rules->names) ? -1
                                             : real(from_folder, from, to_folder, to, flags);
}

int clock_gettime(clockid_t id, struct timespec *now) {
  REAL(clock_gettime);
  int result = real(id, now);
  if (rules && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += rules->seconds;
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  REAL(gettimeofday);
  int result = real(now, zone);
  if (rules) now->tv_sec += rules->seconds;
  return result;
}

time_t time(time_t *now) {
  REAL(time);
  time_t result = real(NULL) + (rules ? rules->seconds : 0);
  if (now) *now = result;
  return result;
}
