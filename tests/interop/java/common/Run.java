/* SPDX-License-Identifier: Apache-2.0 */
package peal.interop;

/** One execution as the library presents it to a handler, the same for every version of the library. */
interface Run {
    long logId();

    /** The job's id, or -1 where the library does not tell it (2.2). */
    long jobId();

    String param();

    int shard();

    int total();

    /** Write a line to the run's rolling log. */
    void log(String text);
}
