-- SPDX-License-Identifier: Apache-2.0
-- Of a life: which epoch adopts its runs alone at first (NULL: none), and when it began by its server's clock.

ALTER TABLE peal_epoch ADD COLUMN heir bigint;
ALTER TABLE peal_epoch ADD COLUMN began_ms bigint;
