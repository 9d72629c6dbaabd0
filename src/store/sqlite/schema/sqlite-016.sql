-- SPDX-License-Identifier: Apache-2.0
-- The runs that a run has started: live retries and children, few rows of the many.
CREATE INDEX i_run_cause ON peal_run (cause) WHERE cause > 0;
