-- SPDX-License-Identifier: Apache-2.0
-- Homes of jobs on a database that several servers have. peal_due.home: the node that plans the job, 0 none; the index by
-- it, i_due_home, is made by the first server that shares the database. peal_node.weight: a node gets jobs in proportion to
-- it; jobs: how many have their home there.

ALTER TABLE peal_due ADD COLUMN home integer NOT NULL DEFAULT 0;
ALTER TABLE peal_node ADD COLUMN weight smallint NOT NULL DEFAULT 4, ADD COLUMN jobs bigint;
