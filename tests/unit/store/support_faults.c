/* SPDX-License-Identifier: Apache-2.0 */
#include "support_faults.h"
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static int fault_rc, fault_left;
static bool happened;

struct shim_file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this struct, in the same memory */
};

static sqlite3_file *real_of(sqlite3_file *f)
{
    return ((struct shim_file *)f)->real;
}

static int fault(void)
{
    if (!fault_rc || --fault_left > 0)
        return SQLITE_OK;
    fault_left = 0;
    happened = true;
    return fault_rc;
}

static int shim_close(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}
static int shim_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), p, n, at);
}
static int shim_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    int rc = fault();
    if (rc && n > 1) /* a torn write: half of it arrives */
        real_of(f)->pMethods->xWrite(real_of(f), p, n / 2, at);
    return rc ? rc : real_of(f)->pMethods->xWrite(real_of(f), p, n, at);
}
static int shim_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return real_of(f)->pMethods->xTruncate(real_of(f), size);
}
static int shim_sync(sqlite3_file *f, int flags)
{
    int rc = fault();
    return rc ? (rc == SQLITE_FULL ? SQLITE_IOERR_FSYNC : rc)
              : real_of(f)->pMethods->xSync(real_of(f), flags);
}
static int shim_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}
static int shim_lock(sqlite3_file *f, int how)
{
    return real_of(f)->pMethods->xLock(real_of(f), how);
}
static int shim_unlock(sqlite3_file *f, int how)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), how);
}
static int shim_reserved(sqlite3_file *f, int *out)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}
static int shim_control(sqlite3_file *f, int op, void *arg)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}
static int shim_sector(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}
static int shim_device(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}
static int shim_map(sqlite3_file *f, int page, int size, int extend, void volatile **p)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, p);
}
static int shim_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}
static void shim_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}
static int shim_unmap(sqlite3_file *f, int del)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), del);
}

static const sqlite3_io_methods shim_methods = {
    .iVersion = 2,
    .xClose = shim_close,
    .xRead = shim_read,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_size,
    .xLock = shim_lock,
    .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_reserved,
    .xFileControl = shim_control,
    .xSectorSize = shim_sector,
    .xDeviceCharacteristics = shim_device,
    .xShmMap = shim_map,
    .xShmLock = shim_shm_lock,
    .xShmBarrier = shim_barrier,
    .xShmUnmap = shim_unmap,
};

static sqlite3_vfs *unix_vfs;

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    (void)vfs;
    struct shim_file *shim = (struct shim_file *)f;
    shim->real = (sqlite3_file *)(shim + 1);
    int rc = unix_vfs->xOpen(unix_vfs, name, shim->real, flags, out);
    shim->base.pMethods = rc == SQLITE_OK ? &shim_methods : NULL;
    return rc;
}

void faults_install(void)
{
    static sqlite3_vfs shim;
    if (unix_vfs)
        return;
    unix_vfs = sqlite3_vfs_find("unix");
    shim = *unix_vfs;
    shim.pNext = NULL;
    shim.zName = "faulty";
    shim.szOsFile = (int)sizeof(struct shim_file) + unix_vfs->szOsFile;
    shim.xOpen = shim_open;
    sqlite3_vfs_register(&shim, 1);
}

void faults_after(int n, int rc)
{
    fault_left = n;
    fault_rc = rc;
    happened = false;
}

bool faults_happened(void)
{
    return happened;
}
