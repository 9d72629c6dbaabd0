-- SPDX-License-Identifier: Apache-2.0
-- Releases beside each other. peal_node.protocol: of the release that the node's life runs; oldest: the oldest one that it
-- can run beside (store/release.h).

ALTER TABLE peal_node ADD COLUMN protocol integer NOT NULL DEFAULT 1, ADD COLUMN oldest integer NOT NULL DEFAULT 1;
