/* SPDX-License-Identifier: Apache-2.0 */
/* The system's own word is the last errno that SQLite's layer for files keeps with a file. It stays
 * there until the file is closed, which is the limit of this: damage that is found after a failure
 * to read counts as that until then. */
#include "sql/sqlerr.h"
#include <errno.h>
#include <string.h>
#include "base/mem.h"

bool sqlerr_no_room(int e)
{
    return e == ENOSPC || e == EDQUOT || e == EFBIG;
}

/* Those that SQLite takes for a damaged file: SQLITE_IOERR_CORRUPTFS, which becomes SQLITE_CORRUPT.
 * What cannot be read now is not lost. */
static bool cannot_read(int e)
{
    return e == EIO || e == ENXIO || e == ERANGE;
}

static bool read_only(int e)
{
    return e == EROFS;
}

/* What the system said last about the file or its log, if it is of this sort; else 0. */
static int said(sqlite3 *db, bool (*sort)(int e))
{
    static const int files[] = { SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER };
    for (size_t i = 0; i < countof(files); i++) {
        sqlite3_file *f = NULL;
        int e = 0;
        if (db && sqlite3_file_control(db, "main", files[i], &f) == SQLITE_OK && f && f->pMethods &&
            f->pMethods->xFileControl(f, SQLITE_FCNTL_LAST_ERRNO, &e) == SQLITE_OK && sort(e))
            return e;
    }
    return db && sort(sqlite3_system_errno(db)) ? sqlite3_system_errno(db) : 0;
}

bool sqlerr_unreadable(sqlite3 *db)
{
    return said(db, cannot_read) != 0;
}

enum err sqlerr_of(sqlite3 *db, int rc)
{
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return ERR_NOMEM;
    case SQLITE_FULL:
        return ERR_FULL;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return ERR_READONLY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return sqlerr_unreadable(db) ? ERR_IO : ERR_CORRUPT;
    case SQLITE_IOERR: /* only ENOSPC is SQLITE_FULL, and only a file that cannot be opened is
                        * SQLITE_READONLY */
        return said(db, sqlerr_no_room) ? ERR_FULL : said(db, read_only) ? ERR_READONLY : ERR_IO;
    case SQLITE_CANTOPEN:
        return ERR_IO;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return ERR_BUSY;
    case SQLITE_TOOBIG:
        return ERR_TOOBIG;
    case SQLITE_INTERRUPT:
        return ERR_TIMEOUT;
    default:
        return ERR_STORE;
    }
}

const char *sqlerr_text(sqlite3 *db, int rc)
{
    enum err err = sqlerr_of(db, rc);
    int e = err == ERR_IO ? said(db, cannot_read) : err == ERR_READONLY ? said(db, read_only) : 0;
    if (e)
        return strerror(e);
    return db && sqlite3_extended_errcode(db) == rc ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
}

const char *sqlerr_advice(enum err err)
{
    switch (err) {
    case ERR_FULL:
        return "make room on its disk";
    case ERR_READONLY:
        return "give this user write permission on the file and its folder; a file system that has "
               "become read-only by itself is damaged: the system's log says why, and it must be "
               "checked and mounted again before the next start";
    case ERR_IO:
        return "look for disk errors in the system's log, and check the folder's permissions";
    case ERR_NOMEM:
        return "the machine has no memory left";
    default:
        return "see the message";
    }
}
