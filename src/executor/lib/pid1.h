/* SPDX-License-Identifier: Apache-2.0 */
/* pid1.h - a program that is process 1 of a container.
 *
 * Process 1 inherits every process whose parent is gone and has to wait for it, else the dead stay
 * in the process table for ever. A program's own code waits for children that it knows; so process
 * 1 stays behind as a parent that does nothing else, and the program goes on as its child. */
#ifndef PEAL_EXECUTOR_LIB_PID1_H
#define PEAL_EXECUTOR_LIB_PID1_H

/* If this is process 1: returns in a child of it, which gets the signals that process 1 gets;
 * process 1 ends with the child's status and does not return. Else it returns at once. Before any
 * thread. 0, or errno. */
int pid1_split(void);

#endif
