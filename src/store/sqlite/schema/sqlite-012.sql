-- SPDX-License-Identifier: Apache-2.0
-- Pages of jobs by name: the key that such a page is ordered by.
CREATE INDEX i_info_name ON xxl_job_info (substr(job_desc, 1, 85));
