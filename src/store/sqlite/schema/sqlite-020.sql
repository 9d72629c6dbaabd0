-- SPDX-License-Identifier: Apache-2.0
-- Jobs of groups: how many of them are scheduled is counted without a look at their rows.
DROP INDEX i_info_jobgroup;
CREATE INDEX i_info_group ON xxl_job_info (job_group, trigger_status);
