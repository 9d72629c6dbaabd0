-- SPDX-License-Identifier: Apache-2.0
-- A random number of this database: ids of traces are made of it and of log ids, so that those of two centers differ.

INSERT INTO peal_seq (name, value) VALUES ('trace', random());
