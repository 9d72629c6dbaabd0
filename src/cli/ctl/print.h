/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - rows and objects as table, JSON or names. */
#ifndef PEAL_CLI_CTL_PRINT_H
#define PEAL_CLI_CTL_PRINT_H

#include "cli/ctl/value.h"

struct ctl_column {
    const char *title;
    const char *path; /* of the item's member: "group.app" */
    int max;          /* columns of a terminal at most; 0: as wide as it is */
};

struct ctl_list {
    const char *path;   /* behind /api/v1: "/jobs?group=…" */
    const char *fields; /* of the table; NULL: all */
    const struct ctl_column *columns;
    int ncolumns;
    const char *name;  /* path of what -o name prints */
    const char *empty; /* what to say when there is nothing */
};

/* Follow the pages of a list and print it: the first rows, as --limit says. */
enum ctl_exit ctl_print_list(struct ctl *c, const struct ctl_list *l);
/* One object: its members as lines of name and value, as JSON, or its name. */
void ctl_print_object(const struct ctl *c, const json_t *object, const char *name);

#endif
