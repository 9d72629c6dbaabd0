/* SPDX-License-Identifier: Apache-2.0 */
/* mail_list.h - the mail addresses in a text that a person has written. Pure. */
#ifndef PEAL_MODEL_MAIL_LIST_H
#define PEAL_MODEL_MAIL_LIST_H

#include "base/str.h"

/* The next address of *rest, which it is cut off from; false: there is none. Commas, semicolons,
 * their Chinese forms, blanks and ends of lines separate addresses; of "Name <a@b>" the address is
 * what stands in the brackets. What is no address comes out as it is. *ret is a part of the text.
 */
bool mail_list_next(struct slice *rest, struct slice *ret);

#endif
