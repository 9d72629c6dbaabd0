# SPDX-License-Identifier: Apache-2.0
"""The tables of an XXL-JOB database on MySQL, as each generation of releases has them. Written from the column lists in the
compatibility notes; `layout` is one of LAYOUTS."""

LAYOUTS = ("2.2", "2.3", "2.5", "3.2", "3.4", "3.5")


def tables(layout):
    """The statements that make them, with the rows that an installation begins with."""
    at_least = {name: LAYOUTS.index(layout) >= LAYOUTS.index(name) for name in LAYOUTS}
    param = "text" if at_least["3.4"] else "varchar(512)"
    schedule = """schedule_type varchar(50) NOT NULL DEFAULT 'NONE', schedule_conf varchar(128),
        misfire_strategy varchar(50) NOT NULL DEFAULT 'DO_NOTHING'""" if at_least["2.3"] else "job_cron varchar(128) NOT NULL"
    title = "name" if at_least["3.5"] else "title"
    name = "name" if at_least["3.5"] else "job_desc"
    indexes = ""
    if at_least["3.4"]:
        indexes = ", KEY I_jobgroup (job_group), KEY I_jobid (job_id)"
    elif at_least["2.5"]:
        indexes = ", KEY I_jobid_jobgroup (job_id, job_group), KEY I_job_id (job_id)"
    return [
        f"""CREATE TABLE xxl_job_group (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, app_name varchar(64) NOT NULL,
            {title} varchar({64 if at_least["3.4"] else 12}) NOT NULL, address_type tinyint NOT NULL DEFAULT 0,
            address_list text, update_time datetime) DEFAULT CHARSET=utf8mb4""",
        f"""CREATE TABLE xxl_job_registry (id {"bigint" if at_least["3.4"] else "int"} NOT NULL AUTO_INCREMENT PRIMARY KEY,
            registry_group varchar(50) NOT NULL, registry_key varchar(255) NOT NULL, registry_value varchar(255) NOT NULL,
            update_time datetime, {"UNIQUE " if at_least["2.5"] else ""}KEY i_g_k_v
            (registry_group, registry_key, registry_value)) DEFAULT CHARSET=utf8mb4""",
        f"""CREATE TABLE xxl_job_info (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, job_group int NOT NULL,
            {name} varchar(255) NOT NULL, add_time datetime, update_time datetime, author varchar(64),
            alarm_email varchar(255), {schedule}, executor_route_strategy varchar(50), executor_handler varchar(255),
            executor_param {param}, executor_block_strategy varchar(50), executor_timeout int NOT NULL DEFAULT 0,
            executor_fail_retry_count int NOT NULL DEFAULT 0, glue_type varchar(50) NOT NULL, glue_source mediumtext,
            glue_remark varchar(128), glue_updatetime datetime, child_jobid varchar(255),
            trigger_status tinyint NOT NULL DEFAULT 0, trigger_last_time bigint NOT NULL DEFAULT 0,
            trigger_next_time bigint NOT NULL DEFAULT 0) DEFAULT CHARSET=utf8mb4""",
        """CREATE TABLE xxl_job_logglue (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, job_id int NOT NULL,
            glue_type varchar(50), glue_source mediumtext, glue_remark varchar(128) NOT NULL, add_time datetime,
            update_time datetime) DEFAULT CHARSET=utf8mb4""",
        f"""CREATE TABLE xxl_job_log (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, job_group int NOT NULL,
            job_id int NOT NULL, executor_address varchar(255), executor_handler varchar(255), executor_param {param},
            executor_sharding_param varchar(20), executor_fail_retry_count int NOT NULL DEFAULT 0, trigger_time datetime,
            trigger_code int NOT NULL, trigger_msg text, handle_time datetime, handle_code int NOT NULL, handle_msg text,
            alarm_status tinyint NOT NULL DEFAULT 0, KEY I_trigger_time (trigger_time), KEY I_handle_code (handle_code)
            {indexes}) DEFAULT CHARSET=utf8mb4""",
        """CREATE TABLE xxl_job_log_report (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, trigger_day datetime,
            running_count int NOT NULL DEFAULT 0, suc_count int NOT NULL DEFAULT 0, fail_count int NOT NULL DEFAULT 0,
            update_time datetime, UNIQUE KEY i_trigger_day (trigger_day)) DEFAULT CHARSET=utf8mb4""",
        "CREATE TABLE xxl_job_lock (lock_name varchar(50) NOT NULL PRIMARY KEY) DEFAULT CHARSET=utf8mb4",
        f"""CREATE TABLE xxl_job_user (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, username varchar(50) NOT NULL,
            password varchar({100 if at_least["3.2"] else 50}) NOT NULL, {"token varchar(100)," if at_least["3.2"] else ""}
            role tinyint NOT NULL, permission varchar(255), UNIQUE KEY i_username (username)) DEFAULT CHARSET=utf8mb4""",
        "INSERT INTO xxl_job_lock VALUES ('schedule_lock')",
        f"INSERT INTO xxl_job_group (app_name, {title}, address_list) VALUES ('app', 'app', '')",
        """INSERT INTO xxl_job_user (username, password, role) VALUES ('admin', """ +
        ("SHA2('123456', 256)" if at_least["3.2"] else "MD5('123456')") + ", 1)",
    ]


def make(connection, database, layout):
    connection.run(f"CREATE DATABASE {database} DEFAULT CHARSET utf8mb4")
    connection.run(f"USE {database}")
    for statement in tables(layout):
        connection.run(statement)
