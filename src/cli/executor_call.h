/* SPDX-License-Identifier: Apache-2.0 */
/* executor_call.h - peal executor drain, undrain, status: a word to an executor that runs. */
#ifndef PEAL_CLI_EXECUTOR_CALL_H
#define PEAL_CLI_EXECUTOR_CALL_H

#include <stdbool.h>

bool executor_call_knows(const char *word);
/* argv[0] is the word. The exit status. */
int executor_call(int argc, char **argv);

#endif
