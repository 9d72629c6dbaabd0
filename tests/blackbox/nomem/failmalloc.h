/* SPDX-License-Identifier: Apache-2.0 */
/* failmalloc.h - an allocator that fails when it is told to. Any thread, and any
 * process that was forked of this one. */
#ifndef FAILMALLOC_H
#define FAILMALLOC_H

/* From now on: skip allocations succeed, the next times fail, later ones succeed. In which thread
 * or process they happen does not matter. */
void failmalloc_arm(long skip, long times);
/* No more failures; how many there were since it was armed. */
long failmalloc_disarm(void);

#endif
