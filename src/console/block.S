/* SPDX-License-Identifier: Apache-2.0 */
/* The console's files, gzipped, as scripts/embed.py has packed them. */
    .section .rodata
    .balign 16
    .global console_block
    .hidden console_block
    .type console_block, %object
console_block:
    .incbin PEAL_CONSOLE_BLOCK
    .size console_block, . - console_block
    .section .note.GNU-stack, "", %progbits
