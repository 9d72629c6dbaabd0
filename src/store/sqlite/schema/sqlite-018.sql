-- SPDX-License-Identifier: Apache-2.0
-- The few jobs that start others: who starts this one?
CREATE INDEX i_info_children ON xxl_job_info (child_jobid) WHERE child_jobid IS NOT NULL AND child_jobid <> '';
