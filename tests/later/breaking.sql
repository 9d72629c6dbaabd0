-- SPDX-License-Identifier: Apache-2.0
-- What it may not do then.
-- oldest: 3

DROP TABLE peal_later;
