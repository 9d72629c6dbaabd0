/* SPDX-License-Identifier: Apache-2.0 */
/* backup_name.h - how a backup in a folder is called. Private to src/store. */
#ifndef PEAL_STORE_BACKUP_NAME_H
#define PEAL_STORE_BACKUP_NAME_H

#include <stdint.h>

#define BACKUP_NAME_SIZE 64

void backup_name(int64_t ms, char to[BACKUP_NAME_SIZE]);

#endif
