/* SPDX-License-Identifier: Apache-2.0 */
/* migration.h - what engines have in common that bring their schema as numbered texts.
 *
 * Each text is applied once and remembered with its SHA-256. A database that remembers another text
 * for a number was made by another build: it is left alone. A number that this binary does not know
 * is a newer release's. A migration of a database server is widening (new tables, columns with a
 * default, indexes): older releases go on. Or it is breaking: a line "-- oldest: N" of its text
 * names the oldest protocol (release.h) whose releases may use the tables from then on. It is
 * applied while no server lives, peal_migration.oldest remembers N, and older releases leave the
 * tables alone. A file has one server, and with any newer migration it is left alone. How a text is
 * applied, and what keeps two programs from doing it at the same time, is the engine's. Private to
 * src/store. */
#ifndef PEAL_STORE_SQL_MIGRATION_H
#define PEAL_STORE_SQL_MIGRATION_H

#include "store/sql/sql.h"

/* The text of schema/FILE, terminated, under the name peal_schema_ENGINE_N. CMake lists the files.
 */
#define SCHEMA_TEXT(engine, n, file)                                                               \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global peal_schema_" #engine "_" #n "\npeal_schema_" #engine "_" #n ":\n"            \
            ".incbin \"" PEAL_SCHEMA_DIR "/" file "\"\n"                                           \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char peal_schema_##engine##_##n[] __attribute__((visibility("hidden")))
/* Its place in an array of texts: number n at n - 1; 1##n keeps 008 from being octal. */
#define SCHEMA_PLACE(engine, n) [1##n - 1001] = peal_schema_##engine##_##n

struct sql_migrations {
    const char *const *texts; /* number n at n - 1 */
    int64_t n;
    const char *database; /* its name, for messages */
    bool shared;          /* a newer migration may be there (not when all is to be copied) */
};

/* Of a database that has the table peal_migration: *ret_applied is the last number, which may be
 * above n. ERR_INVALID: this release may not use it. */
MUST_CHECK enum err sql_migrations_check(struct sql *s, const struct sql_migrations *m,
                                         int64_t *ret_applied, struct why *why);
/* ERR_INVALID if not all of them are applied: for handles that may not do it. */
MUST_CHECK enum err sql_migrations_complete(const struct sql_migrations *m, int64_t applied,
                                            struct why *why);
/* Before number n is applied, outside of a transaction: does its text allow that now? ERR_BUSY: it
 * is breaking, and a server lives. Asked again it says the same. */
MUST_CHECK enum err sql_migration_begin(struct sql *s, const struct sql_migrations *m, int64_t n,
                                        struct why *why);
/* Number n has been applied; in the engine's transaction, if it has one for that. */
MUST_CHECK enum err sql_migration_remember(struct sql *s, const struct sql_migrations *m, int64_t n,
                                           struct why *why);

#endif
