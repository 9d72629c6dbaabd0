/* SPDX-License-Identifier: Apache-2.0 */
/* body.h - JSON bodies: read within bounds, then by a table of fields. Private to src/api; pure.
 *
 * At most 16 levels, no member twice, no \u0000 in text. A table says of each member its type, its
 * bounds and where it goes in a struct. All members that break a rule are told at once; members
 * that the table does not have are refused, so that a misspelt one is not a default. */
#ifndef PEAL_API_BODY_H
#define PEAL_API_BODY_H

#include "api/problem.h"
#include "base/str.h"
#include <stdbool.h>
#include <stddef.h>

struct json_t;
struct web_call;

enum field_type {
    FIELD_TEXT, /* struct slice, borrowed from the document and terminated; bounds in characters */
    FIELD_I64,  /* int64_t */
    FIELD_BOOL, /* bool */
    FIELD_TEXT_OR_NULL, /* null is as if it were absent */
    FIELD_I64_OR_NULL,
    FIELD_WORD,   /* struct body_word, which says the words */
    FIELD_IDS,    /* struct body_ids: ids of rows, no one twice; bounds of their number */
    FIELD_TEXTS,  /* struct body_texts: not empty, of FIELD_TEXT_MAX characters at most; the same */
    FIELD_OBJECT, /* const struct json_t *, borrowed: body_fields_at reads its members */
    FIELD_ANY,    /* const struct json_t *, borrowed: the reader looks at it */
    FIELD_REAL,   /* only as a type for body_type_error */
};

#define FIELD_TEXT_MAX 255

struct body_field {
    const char *name;
    enum field_type type;
    size_t at; /* offset of the member in the struct */
    bool required;
    int64_t min, max;
};

struct body_word {
    const char *words; /* the only texts, separated by commas; set before reading */
    struct slice text; /* p NULL: absent */
};

/* Arrays whose elements have been looked at. Borrowed from the document. */
struct body_ids {
    const struct json_t *array; /* NULL: absent */
    size_t n;
};
struct body_texts {
    const struct json_t *array; /* NULL: absent */
    size_t n;
};
int64_t body_id(const struct body_ids *ids, size_t i);
struct slice body_text(const struct body_texts *texts, size_t i);

/* ERR_TOOBIG: deeper or with more values than allowed. ERR_INVALID: no JSON, or no object.
 * ERR_NOMEM. The caller owns *ret (wire_json_free). */
MUST_CHECK enum err body_parse(struct slice text, struct json_t **ret, struct why *why);
/* The same of a BODY_FILE, whose bounds are those of files (wire/catalog.h). */
MUST_CHECK enum err body_parse_file(struct slice text, struct json_t **ret, struct why *why);

/* The members of an object into the struct at to; what is absent stays. Adds to errors. */
void body_fields(const struct json_t *object, const struct body_field *fields, size_t n, void *to,
                 struct problem_errors *errors);

/* The same for an object within the body; its pointer ("/schedule") stands before the names. */
void body_fields_at(const char *pointer, const struct json_t *object,
                    const struct body_field *fields, size_t n, void *to,
                    struct problem_errors *errors);

/* Has the object that member, be it null? What a merge patch (RFC 7396) does not name stays. */
bool body_has(const struct json_t *object, const char *name);

/* One value by one field, at its own pointer. False: it breaks a rule, which is added. */
bool body_value(const char *pointer, const struct json_t *value, const struct body_field *field,
                void *to, struct problem_errors *errors);

/* For readers that have no table. The JSON pointer of a member; a long name is cut. */
#define BODY_POINTER_SIZE 400
void body_pointer(const char *parent, const char *name, char to[BODY_POINTER_SIZE]);
void body_type_error(struct problem_errors *errors, const char *pointer, enum field_type type);
void body_unknown_error(struct problem_errors *errors, const char *pointer);
void body_missing_error(struct problem_errors *errors, const char *pointer);

/* The members of a call's body. False: it breaks a rule, the call is answered 422. */
MUST_CHECK bool body_read(struct web_call *call, const struct body_field *fields, size_t n,
                          void *to);

#endif
