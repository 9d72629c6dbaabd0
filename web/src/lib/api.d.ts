// SPDX-License-Identifier: Apache-2.0
// Made from docs/api-v1.yaml by `npm run api`.

export interface paths {
    "/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who am I */
        get: operations["getSession"];
        put?: never;
        /**
         * Log in
         * @description After five failures for a name from an address each further try waits; so do, where the user never logged in from, tries after 10 failures in a minute from that address or for that name: 429 with Retry-After.
         */
        post: operations["login"];
        /** Log out */
        delete: operations["logout"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** My sessions */
        get: operations["listMySessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/sessions/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End one of my sessions */
        delete: operations["endMySession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** My language, zone and theme */
        patch: operations["setPreferences"];
        trace?: never;
    };
    "/me/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change my password
         * @description Not for tokens.
         */
        put: operations["changePassword"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** My access tokens */
        get: operations["listTokens"];
        put?: never;
        /**
         * Make an access token
         * @description A token cannot make tokens. Permissions of the server need `groups` null, since they lead to all groups.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an access token */
        delete: operations["deleteToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/dashboard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is broken now, what fires next
         * @description Needs `read`.
         */
        get: operations["getDashboard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/forecast": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Firings per minute for the next 24 hours
         * @description Of jobs that are scheduled, FIX_DELAY as if its runs took no time. Needs `read`.
         */
        get: operations["getForecast"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Jobs
         * @description Needs `read`.
         */
        get: operations["listJobs"];
        put?: never;
        /**
         * Make a job
         * @description Needs `jobs:write`; with `script` also `scripts:write`. With `dryRun` the group may be left out, if it is made later.
         */
        post: operations["createJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * One action on many jobs
         * @description With `dryRun` it says the consequences and changes nothing. One entry in the audit. Needs the permission of its `action`, with `dryRun` too; `move_group` in both groups. Who has it nowhere gets 403; a job for which the asker lacks it is refused alone.
         */
        post: operations["batchJobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A job
         * @description Needs `read`.
         */
        get: operations["getJob"];
        put?: never;
        post?: never;
        /**
         * Delete a job
         * @description Needs `jobs:write`.
         */
        delete: operations["deleteJob"];
        options?: never;
        head?: never;
        /**
         * Change a job
         * @description Acts from the answer on: unsent firings of the old schedule are withdrawn. Needs `jobs:write`; a new `groupId` in both groups.
         */
        patch: operations["updateJob"];
        trace?: never;
    };
    "/jobs/{id}/consequences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What would an action take away
         * @description Needs `read`.
         */
        get: operations["getConsequences"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Schedule a job
         * @description Refused (409) if its schedule has no further firing. Needs `run`.
         */
        post: operations["startJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop scheduling a job
         * @description Needs `run`.
         */
        post: operations["stopJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a job now
         * @description Needs `run`.
         */
        post: operations["triggerJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}/fires": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Next firings of a job
         * @description Needs `read`.
         */
        get: operations["listFires"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Durations and days of a job
         * @description Needs `read`.
         */
        get: operations["getJobStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who changed the job
         * @description Needs `read`.
         */
        get: operations["listJobChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}/scripts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Versions of a script
         * @description The newest 30: the rows of `xxl_job_logglue`. Needs `read`.
         */
        get: operations["listScripts"];
        put?: never;
        /**
         * Publish a new version
         * @description Needs `scripts:write`.
         */
        post: operations["publishScript"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}/scripts/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One version with its source
         * @description Needs `read`.
         */
        get: operations["getScript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain a schedule and compute its firings
         * @description The one engine that also fires. Days are counted, not walked through, so a dense calendar costs no more. Needs `read`.
         */
        post: operations["previewSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/zones": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Time zones that the server knows
         * @description Needs `read`.
         */
        get: operations["listZones"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Groups
         * @description Needs `read`.
         */
        get: operations["listGroups"];
        put?: never;
        /**
         * Make a group
         * @description Needs `executors:write`.
         */
        post: operations["createGroup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A group
         * @description Needs `read`.
         */
        get: operations["getGroup"];
        put?: never;
        post?: never;
        /**
         * Delete a group
         * @description Needs `executors:write`.
         */
        delete: operations["deleteGroup"];
        options?: never;
        head?: never;
        /**
         * Change a group
         * @description Needs `executors:write`.
         */
        patch: operations["updateGroup"];
        trace?: never;
    };
    "/groups/{id}/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The access token of a group
         * @description The one that its executors and the center prove themselves with, in clear. A group without one of its own has the center's. Needs `system:admin`.
         */
        get: operations["getGroupToken"];
        put?: never;
        /**
         * Begin a change of the token
         * @description The new token serves beside the one so far (at first the center's) until the change is finished, so executors can be given it one after the other. Each executor is called with the one that it registered with last. Needs `system:admin`.
         */
        post: operations["changeGroupToken"];
        /**
         * Remove the token
         * @description The group has the center's again, at once: executors that have the group's are refused until they are given the center's. Needs `system:admin`.
         */
        delete: operations["removeGroupToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/groups/{id}/token/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish the change of the token
         * @description The new token alone serves. Executors that still have the one before are refused from then on. Needs `system:admin`.
         */
        post: operations["finishGroupToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/groups/{id}/token/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Withdraw the change of the token
         * @description The new token does not serve any more. Executors that have it are refused from then on. Needs `system:admin`.
         */
        post: operations["withdrawGroupToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/executors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Executors with their lanes
         * @description Addresses that have registered or stand in a list by hand, in order. Each tells the groups that the asker may read; one without a group is told to those who may read all. Needs `read`.
         */
        get: operations["listExecutors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/executors/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One executor
         * @description Needs `read`.
         */
        get: operations["getExecutor"];
        put?: never;
        post?: never;
        /**
         * Forget a registered address
         * @description For every app with which it has registered. A list by hand is not changed by it; an address that stands in such a list only is answered 409, and goes with an edit of the group. Needs `executors:write`.
         */
        delete: operations["removeExecutor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/executors/{key}/probe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Probe an executor
         * @description Calls /beat now, for 3 s at most. The scheduler goes by what it hears. Needs `run` for one of its groups.
         */
        post: operations["probeExecutor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Runs, newest first
         * @description Without `from` the last 7 days. Filters that no index serves look at 200,000 rows at most; `total.exact` is false then. Needs `read`.
         */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A run and its story
         * @description Needs `read`.
         */
        get: operations["getRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/kill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a run
         * @description Needs `run`.
         */
        post: operations["killRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run its job again with its parameter
         * @description Needs `run`.
         */
        post: operations["rerunRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * One action on many runs
         * @description Needs the permission of its `action`; a run for which the asker lacks it is refused alone.
         */
        post: operations["batchRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/clean": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete old runs
         * @description Needs `jobs:write` for the group of `groupId` or `jobId`; with neither it takes all groups for which the asker has it.
         */
        post: operations["cleanRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lines of a run's log
         * @description Needs `read`.
         */
        get: operations["getLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/log/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The whole log as a file
         * @description Needs `read`.
         */
        get: operations["downloadLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runs/{id}/log/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow a log
         * @description However many watch, the executor is asked once: every 500 ms while lines come, up to every 3 s. Needs `read`.
         */
        get: operations["streamLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What changes, as it changes
         * @description A comment line every 15 s. The last 4,096 events are kept: Last-Event-ID goes on from there, else `reset` comes first. Needs `read`.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What rules have found
         * @description Alarms that are open, and those that were closed in the last 30 days. Newest first. Needs `read`.
         */
        get: operations["listAlarms"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarms/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An alarm with its jobs
         * @description At most 500 jobs, those that have not recovered first. Needs `read`.
         */
        get: operations["getAlarm"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarms/{id}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Somebody looks after it
         * @description It is not told again while it is open; that it is over still is. Needs `run`.
         */
        post: operations["acknowledgeAlarm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarms/{id}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close an alarm
         * @description A job that goes on failing comes into another alarm only after it has recovered. Needs `run`.
         */
        post: operations["closeAlarm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarm-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Rules of alarms
         * @description Those of all jobs, and those of groups and jobs that the asker may read. Needs `read`.
         */
        get: operations["listAlarmRules"];
        put?: never;
        /**
         * Make a rule
         * @description A center has at most 200. What failed before is not told; a job is told of from its next transition on. Its channels must be there. Needs `system:admin`.
         */
        post: operations["createAlarmRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarm-rules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A rule of alarms
         * @description Needs `read`.
         */
        get: operations["getAlarmRule"];
        put?: never;
        post?: never;
        /**
         * Delete a rule
         * @description With its open alarms; nothing is told of that. Needs `system:admin`.
         */
        delete: operations["deleteAlarmRule"];
        options?: never;
        head?: never;
        /**
         * Change a rule
         * @description A rule that is about something else from now on, or is turned off, loses its open alarms, and nothing is told of that. Needs `system:admin`.
         */
        patch: operations["updateAlarmRule"];
        trace?: never;
    };
    "/alarm-channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Alarm channels
         * @description All of them, those of the server's settings first, without an id. Secrets are never shown. Needs `system:admin`.
         */
        get: operations["listChannels"];
        put?: never;
        /**
         * Make a channel
         * @description Needs `system:admin`.
         */
        post: operations["createChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarm-channels/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A channel
         * @description Needs `system:admin`.
         */
        get: operations["getChannel"];
        put?: never;
        post?: never;
        /**
         * Delete a channel
         * @description Alarms that wait for it are given up. 409 while rules name it; a rename too. Needs `system:admin`.
         */
        delete: operations["deleteChannel"];
        options?: never;
        head?: never;
        /**
         * Change a channel
         * @description Settings that are not named stay, secrets too; null takes one away. Needs `system:admin`.
         */
        patch: operations["updateChannel"];
        trace?: never;
    };
    "/alarm-channels/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test message
         * @description Waits at most 10 seconds for what the other side says, whether the channel is on or off. Needs `system:admin`.
         */
        post: operations["testChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarm-silences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Silences of alarms
         * @description Those of all groups, and those of groups that the asker may read; also those that were over in the last 30 days. Needs `read`.
         */
        get: operations["listSilences"];
        put?: never;
        /**
         * Silence alarms for a time
         * @description Nothing is told of what rules find in the group, or about the job alone, or of what the rule finds, or both. What is still open at the end is told then. With `jobId` there is no `groupId`, and the answer has that of the job. Needs `run` on the group, and `system:admin` without one.
         */
        post: operations["createSilence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarm-silences/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a silence
         * @description Needs `run` on its group, and `system:admin` if it has none.
         */
        delete: operations["deleteSilence"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarm-deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Messages to channels, and what came of them
         * @description One for each message and channel, also the mails of `alarmEmails` and the webhook of the settings. Newest first; those of the last 30 days. The total is counted up to 10,000; `total.exact` is false then. Needs `read` on the group; those about the center are seen by who may read all groups.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarm-deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A message to a channel, with each try
         * @description Newest tries first, at most 500. Needs `read` on the group.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alarm-deliveries/{id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message again
         * @description To all of its targets, with tries for an hour as at first, and under another id of the message. 409 while it is waiting, or if its channel is not there or off. Needs `run` on the group, and `system:admin` for those about the center.
         */
        post: operations["resendDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Users
         * @description Needs `users:admin`.
         */
        get: operations["listUsers"];
        put?: never;
        /**
         * Make a user
         * @description Needs `users:admin`.
         */
        post: operations["createUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A user
         * @description Needs `users:admin`.
         */
        get: operations["getUser"];
        put?: never;
        post?: never;
        /**
         * Delete a user
         * @description Needs `users:admin`.
         */
        delete: operations["deleteUser"];
        options?: never;
        head?: never;
        /**
         * Change a user
         * @description The last admin stays admin, and users cannot change their own `center` or `grants`, nor here their own password (`PUT /me/password`). A token changes nobody who may more than the token, and gives nobody more. Needs `users:admin`.
         */
        patch: operations["updateUser"];
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who did what
         * @description Needs `audit:read`.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One entry
         * @description Needs `audit:read`.
         */
        get: operations["getAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was configured, as a file
         * @description Names in place of ids, in an order that only names decide: the same while nothing has changed. No secret is in it: no password (its hash neither), no token, no secret setting of a channel; `secrets` of a channel says which are set. What the asker may not read is left out, and so are children that have gone, and silences that are over. It is read list by list: what is changed meanwhile may be in one and not in another. 409 if two groups, or two jobs of a group, have one name, and if the file would be larger than an answer may be. Needs `read`; with users `users:admin`, with channels `system:admin`.
         */
        get: operations["getExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A file of groups, jobs, channels, rules and users as one change
         * @description The file is what `GET /export` writes: names in place of ids. What the center lacks of it is made, what differs is changed, and what the file does not say stays: of a group or job that it has, only the members that it has. All of it is looked at first, by the rules of each operation that it stands for; then it is one transaction: all of it is done, or nothing. 422 names each fault by its JSON pointer. 409 if a thing was changed while the import looked at it, if two groups, jobs or rules have one name, and if more than 10,000 things would change. The same file again changes nothing. A job follows its group and its children into the transaction; a job that changes keeps its runs and their history, as with an edit of its own. Each thing that changes has its own entry in the audit, whose reason is the remark.
         *
         *     Groups and jobs are taken, with scripts, children and states; channels and rules of alarms by their names. Files have no secrets: those of a channel stay, and a channel that is made needs each that its file names, in `settings`. A rule may be about a group or a job that the same file makes. Users are taken by their names, with `center` and `grants`; the last administrator stays one, and the asker's own rights cannot be changed. A user that is made has the `password` of the file; without it the user cannot log in until an administrator sets one (`PATCH /users/{id}`). A user that is there keeps its password, and the file's is not looked at. Silences of the file are looked at in their shape, and left as they are: `left` counts them.
         *
         *     The body has at most 2 MiB and 100,000 values. Packed (`Content-Encoding: gzip`, at most 2 MiB) it may have 16 MiB and 500,000 values, which is some 12,000 jobs. It is unpacked when it is known that the asker may write jobs, and one at a time: else 429.
         *
         *     With `dryRun` it says the same and changes nothing; its ETag stands for what would be done and what that was made from. Given back as If-Match it makes sure that just that is done: else 412.
         *
         *     Needs `jobs:write`: on the groups of jobs that are made, changed or deleted, for all groups where their group is made. `run` for a `state` that changes, and on the groups of children; `scripts:write` for scripts; `executors:write` for groups; `system:admin` for channels and rules; `users:admin` for users.
         */
        post: operations["importFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Servers of the database
         * @description Those that have opened it, the newest life first. One at a time uses a database, unless its servers share it (setting `node.cluster`). A database in a file has no other.
         *
         *     Needs `read`.
         */
        get: operations["listNodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nodes/{id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Leave the jobs of a server to others
         * @description It plans nothing more and takes no runs over; what it has planned and begun, and what is asked for by hand at it, ends there. It goes on to answer. The wish ends with its life. Refused where no other server plans; one that is the last to live plans again, whatever it was asked.
         *
         *     Needs `system:admin`.
         */
        post: operations["drainNode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/nodes/{id}/undrain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a server plan again
         * @description Takes back what `drain` asked for.
         *
         *     Needs `system:admin`.
         */
        post: operations["undrainNode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/system": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The center itself
         * @description Needs `read`.
         */
        get: operations["getSystem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/system/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Settings in force, with their origin
         * @description Needs `system:admin`.
         */
        get: operations["listSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["getOpenapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description An error, RFC 9457. `code` is stable and machine-readable, `params` fills the client's own translation; `title` and `detail` are English in every language.
         * @example {
         *       "type": "/problems/invalid",
         *       "title": "The request breaks a rule",
         *       "status": 422,
         *       "code": "invalid",
         *       "detail": "schedule.conf: hour is 0 to 23, this says 25",
         *       "requestId": "01HF3K7Q",
         *       "errors": [
         *         {
         *           "field": "/schedule/conf",
         *           "rule": "cron.hour.range",
         *           "detail": "hour is 0 to 23, this says 25",
         *           "params": {
         *             "min": 0,
         *             "max": 23,
         *             "value": "25",
         *             "column": 7
         *           }
         *         }
         *       ]
         *     }
         */
        Problem: {
            /**
             * Format: uri-reference
             * @description A URI reference of the kind of problem; its page explains it
             */
            type: string;
            title: string;
            status: number;
            /** @enum {string} */
            code: "malformed" | "invalid" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "not_acceptable" | "conflict" | "changed_meanwhile" | "if_match_required" | "too_large" | "unsupported_media_type" | "idempotency_mismatch" | "too_many_requests" | "unavailable" | "timeout" | "internal";
            detail?: string;
            /** Format: uri-reference */
            instance?: string;
            /** @description Also in the header Peal-Request-Id and in the log of the center */
            requestId?: string;
            /** @description One entry for each field that breaks a rule */
            errors?: components["schemas"]["FieldError"][];
            /** @description Values of the code, for translation */
            params?: {
                [key: string]: string | number | boolean | null;
            };
            /** @description How long to wait */
            retryAfterMs?: number;
        };
        FieldError: {
            /** @description JSON pointer into the body, or the name of a parameter */
            field: string;
            /** @description Stable name of the rule */
            rule: string;
            detail: string;
            /** @description Values of the rule, for translation */
            params?: {
                [key: string]: string | number | boolean | null;
            };
        };
        Person: {
            /** Format: int64 */
            id: number;
            name: string;
        };
        /** @description A row by id and name */
        Ref: {
            /** Format: int64 */
            id: number;
            name: string;
        };
        GroupRef: {
            /** Format: int64 */
            id: number;
            /** @description App name, by which executors register */
            app: string;
            title?: string;
        };
        /** @description What every list ends with */
        Page: {
            /** @description Cursor of the next page; null: this was the last. Opaque; a center that was started anew refuses it with 400: ask for the first page again */
            next: string | null;
            total: components["schemas"]["Total"];
        };
        Total: {
            /** Format: int64 */
            value: number;
            /** @description false: counting stopped at this number, there are at least so many */
            exact: boolean;
        };
        /**
         * @description For groups: `read`; `run` (trigger, rerun, kill, start, stop, probe); `jobs:write` (with clean log); `scripts:write`. For the center: the others
         * @enum {string}
         */
        Permission: "read" | "run" | "jobs:write" | "scripts:write" | "audit:read" | "executors:write" | "users:admin" | "system:admin";
        /**
         * @description `viewer` has `read`; `operator` also `run`; `editor` also `jobs:write`; `developer` also `scripts:write`
         * @enum {string}
         */
        Role: "viewer" | "operator" | "editor" | "developer";
        /**
         * @description `auditor` has `read` for all groups and `audit:read`; `admin` has every permission. XXL-JOB's role 1 is `admin`; its role 0 is `none`, with a grant of `developer` for the groups of its `permission`
         * @enum {string}
         */
        Center: "none" | "auditor" | "admin";
        /** @description A role for groups */
        Grant: {
            role: components["schemas"]["Role"];
            /** @description Ids of the groups; null: all, also later ones */
            groups: number[] | null;
        };
        /** @description Permissions that hold for the same groups */
        Right: {
            permissions: components["schemas"]["Permission"][];
            /** @description Ids of the groups; null: all */
            groups: number[] | null;
        };
        /**
         * @description Who is asking
         * @example {
         *       "user": {
         *         "id": 1,
         *         "name": "ops-1"
         *       },
         *       "center": "admin",
         *       "grants": [],
         *       "rights": [
         *         {
         *           "permissions": [
         *             "read",
         *             "run",
         *             "jobs:write",
         *             "scripts:write",
         *             "audit:read",
         *             "executors:write",
         *             "users:admin",
         *             "system:admin"
         *           ],
         *           "groups": null
         *         }
         *       ],
         *       "preferences": {
         *         "language": "en",
         *         "zone": "Europe/Berlin",
         *         "theme": "system",
         *         "shortcuts": true
         *       },
         *       "session": {
         *         "kind": "cookie",
         *         "expiresAt": "2026-11-28T14:32:08.000Z",
         *         "expiresMs": 1795876328000
         *       },
         *       "mustChangePassword": false
         *     }
         */
        Me: {
            user: components["schemas"]["Person"];
            center: components["schemas"]["Center"];
            grants: components["schemas"]["Grant"][];
            /** @description What this asker may do, from center and grants; of a token cut to its own permissions and groups */
            rights: components["schemas"]["Right"][];
            preferences: components["schemas"]["Preferences"];
            session: {
                /** @enum {string} */
                kind: "cookie" | "token";
                /**
                 * Format: date-time
                 * @description When it ends, RFC 3339 in UTC with milliseconds
                 */
                expiresAt?: string | null;
                /**
                 * Format: int64
                 * @description The same instant in milliseconds since 1970
                 */
                expiresMs?: number | null;
            };
            /** @description A generated password; the console asks for a new one */
            mustChangePassword?: boolean;
        };
        Preferences: {
            /** @enum {string} */
            language?: "en" | "zh-CN" | "zh-TW";
            /** @description IANA name, or `browser`, `job`, `server` */
            zone?: string;
            /** @enum {string} */
            theme?: "light" | "dark" | "system";
            /** @description Single-letter keys */
            shortcuts?: boolean;
            /** @enum {string} */
            density?: "comfortable" | "compact";
        };
        /**
         * @description JSON merge patch (RFC 7396): what is absent stays, null goes back to the default
         * @example {
         *       "language": "zh-CN",
         *       "zone": "Asia/Shanghai",
         *       "theme": "dark"
         *     }
         */
        PreferencesPatch: {
            /** @enum {string|null} */
            language?: "en" | "zh-CN" | "zh-TW" | null;
            zone?: string | null;
            /** @enum {string|null} */
            theme?: "light" | "dark" | "system" | null;
            shortcuts?: boolean | null;
            /** @enum {string|null} */
            density?: "comfortable" | "compact" | null;
        };
        /**
         * @example {
         *       "name": "admin",
         *       "password": "a password",
         *       "remember": false
         *     }
         */
        Login: {
            name: string;
            /** Format: password */
            password: string;
            /** @description 30 days in place of 7 */
            remember?: boolean;
        };
        /**
         * @example {
         *       "old": "the old one",
         *       "new": "a longer new one"
         *     }
         */
        PasswordChange: {
            /** Format: password */
            old: string;
            /** Format: password */
            new: string;
        };
        /**
         * @example {
         *       "id": "c1f2",
         *       "current": true,
         *       "address": "10.1.2.3",
         *       "createdAt": "2026-11-21T14:32:08.000Z",
         *       "createdMs": 1795271528000,
         *       "expiresAt": "2026-11-28T14:32:08.000Z",
         *       "expiresMs": 1795876328000
         *     }
         */
        Session: {
            /** @description First characters of the digest; logs nobody in */
            id: string;
            current: boolean;
            address: string;
            /**
             * Format: date-time
             * @description Login, RFC 3339 in UTC with milliseconds
             */
            createdAt: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            createdMs: number;
            /**
             * Format: date-time
             * @description End, RFC 3339 in UTC with milliseconds
             */
            expiresAt: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            expiresMs: number;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": "c1f2",
         *           "current": true,
         *           "address": "10.1.2.3",
         *           "createdAt": "2026-11-21T14:32:08.000Z",
         *           "createdMs": 1795271528000,
         *           "expiresAt": "2026-11-28T14:32:08.000Z",
         *           "expiresMs": 1795876328000
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        SessionList: {
            items: components["schemas"]["Session"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @description A personal access token, without its secret
         * @example {
         *       "id": 7,
         *       "name": "deploy",
         *       "prefix": "pat_x7Qa",
         *       "permissions": [
         *         "read",
         *         "run"
         *       ],
         *       "groups": [
         *         3
         *       ],
         *       "createdAt": "2026-11-21T14:32:08.000Z",
         *       "createdMs": 1795271528000,
         *       "expiresAt": "2027-02-19T14:32:08.000Z",
         *       "expiresMs": 1803047528000,
         *       "lastUsedAt": null,
         *       "lastUsedMs": null
         *     }
         */
        Token: {
            /** Format: int64 */
            id: number;
            name: string;
            /** @description How the secret begins */
            prefix: string;
            permissions: components["schemas"]["Permission"][];
            /** @description null: all groups of its owner */
            groups: number[] | null;
            /**
             * Format: date-time
             * @description Made, RFC 3339 in UTC with milliseconds
             */
            createdAt: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            createdMs: number;
            /**
             * Format: date-time
             * @description End, RFC 3339 in UTC with milliseconds
             */
            expiresAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            expiresMs?: number | null;
            /**
             * Format: date-time
             * @description Last request, RFC 3339 in UTC with milliseconds
             */
            lastUsedAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            lastUsedMs?: number | null;
        };
        /**
         * @example {
         *       "name": "deploy",
         *       "permissions": [
         *         "read",
         *         "run"
         *       ],
         *       "groups": [
         *         3
         *       ],
         *       "days": 90
         *     }
         */
        TokenNew: {
            name: string;
            /** @description Cut to what its owner may at each request */
            permissions: components["schemas"]["Permission"][];
            groups?: number[] | null;
            /**
             * @description Until it ends; 0: never (admins only)
             * @default 90
             */
            days: number;
        };
        /**
         * @example {
         *       "token": {
         *         "id": 7,
         *         "name": "deploy",
         *         "prefix": "pat_x7Qa",
         *         "permissions": [
         *           "read",
         *           "run"
         *         ],
         *         "groups": [
         *           3
         *         ],
         *         "createdAt": "2026-11-21T14:32:08.000Z",
         *         "createdMs": 1795271528000,
         *         "expiresAt": "2027-02-19T14:32:08.000Z",
         *         "expiresMs": 1803047528000,
         *         "lastUsedAt": null,
         *         "lastUsedMs": null
         *       },
         *       "secret": "pat_x7Qa…"
         *     }
         */
        TokenMade: {
            token: components["schemas"]["Token"];
            /** @description Shown once; only its SHA-256 is kept */
            secret: string;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 7,
         *           "name": "deploy",
         *           "prefix": "pat_x7Qa",
         *           "permissions": [
         *             "read",
         *             "run"
         *           ],
         *           "groups": [
         *             3
         *           ],
         *           "createdAt": "2026-11-21T14:32:08.000Z",
         *           "createdMs": 1795271528000,
         *           "expiresAt": "2027-02-19T14:32:08.000Z",
         *           "expiresMs": 1803047528000,
         *           "lastUsedAt": null,
         *           "lastUsedMs": null
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        TokenList: {
            items: components["schemas"]["Token"][];
            page: components["schemas"]["Page"];
        };
        /** @enum {string} */
        ScheduleType: "NONE" | "CRON" | "FIX_RATE" | "FIX_DELAY" | "ONCE";
        /**
         * @example {
         *       "type": "CRON",
         *       "conf": "0 30 2 ? * SUN-FRI",
         *       "zone": "Europe/Berlin",
         *       "dst": "smart",
         *       "misfire": "DO_NOTHING",
         *       "misfireMax": 100
         *     }
         */
        Schedule: {
            type: components["schemas"]["ScheduleType"];
            /** @description Cron expression; seconds or `250ms`; RFC 3339 with offset */
            conf?: string;
            /** @description IANA name; null: the server's */
            zone?: string | null;
            /** @enum {string} */
            dst?: "xxl" | "smart";
            /** @enum {string} */
            misfire?: "DO_NOTHING" | "FIRE_ONCE_NOW" | "FIRE_ALL";
            misfireMax?: number;
        };
        Task: {
            /** @enum {string} */
            kind: "BEAN" | "GLUE_GROOVY" | "GLUE_SHELL" | "GLUE_PYTHON" | "GLUE_PYTHON2" | "GLUE_PHP" | "GLUE_NODEJS" | "GLUE_POWERSHELL";
            /** @description Needed for BEAN */
            handler?: string;
            /** @description Handed to the job as it is */
            param?: string;
        };
        Running: {
            /** @enum {string} */
            route?: "FIRST" | "LAST" | "ROUND" | "RANDOM" | "CONSISTENT_HASH" | "LEAST_FREQUENTLY_USED" | "LEAST_RECENTLY_USED" | "FAILOVER" | "BUSYOVER" | "SHARDING_BROADCAST";
            /** @enum {string} */
            block?: "SERIAL_EXECUTION" | "DISCARD_LATER" | "COVER_EARLY";
            /** @description 0: none */
            timeoutS?: number;
            retries?: number;
            retryDelayMs?: number;
            retryBackoff?: number;
            startDeadlineMs?: number;
            /**
             * @description Of a send whose outcome stays unknown; `onDoubt` of the form API
             * @enum {string}
             */
            onUnknown?: "wait" | "resend";
        };
        /**
         * @description `stopped` with a stopReason: the center stopped it
         * @enum {string}
         */
        JobState: "scheduled" | "stopped";
        /** @description One of the last runs, oldest first */
        ResultDot: {
            /** Format: int64 */
            runId: number;
            outcome: components["schemas"]["Outcome"];
            tookMs?: number | null;
        };
        /**
         * @description `open`: not ended
         * @enum {string}
         */
        Outcome: "open" | "succeeded" | "failed" | "timed_out" | "killed" | "lost" | "rejected" | "unroutable";
        Streak: {
            outcome: components["schemas"]["Outcome"];
            count: number;
            /**
             * Format: date-time
             * @description First of them, RFC 3339 in UTC with milliseconds
             */
            sinceAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            sinceMs?: number | null;
        };
        /**
         * @example {
         *       "id": 42,
         *       "name": "Nightly ledger backup",
         *       "group": {
         *         "id": 3,
         *         "app": "ops-agent",
         *         "title": "Operations"
         *       },
         *       "owner": "ops-1",
         *       "state": "scheduled",
         *       "stopReason": null,
         *       "schedule": {
         *         "type": "CRON",
         *         "conf": "0 30 2 ? * SUN-FRI",
         *         "zone": "Europe/Berlin",
         *         "dst": "smart",
         *         "misfire": "DO_NOTHING",
         *         "misfireMax": 100
         *       },
         *       "task": {
         *         "kind": "GLUE_SHELL",
         *         "handler": "",
         *         "param": "--full"
         *       },
         *       "running": {
         *         "route": "ROUND",
         *         "block": "SERIAL_EXECUTION",
         *         "timeoutS": 0,
         *         "retries": 2,
         *         "retryDelayMs": 5000,
         *         "retryBackoff": 1,
         *         "startDeadlineMs": 60000,
         *         "onUnknown": "wait"
         *       },
         *       "children": [],
         *       "alarmEmails": [],
         *       "nextAt": "2026-11-22T01:30:00.000Z",
         *       "nextMs": 1795311000000,
         *       "lastAt": "2026-11-21T01:30:00.000Z",
         *       "lastMs": 1795224600000,
         *       "recent": [
         *         {
         *           "runId": 9006120,
         *           "outcome": "failed",
         *           "tookMs": 41185
         *         }
         *       ],
         *       "streak": {
         *         "outcome": "failed",
         *         "count": 1,
         *         "sinceAt": "2026-11-21T01:30:00.000Z",
         *         "sinceMs": 1795224600000
         *       },
         *       "scriptVersion": 12,
         *       "createdAt": "2026-11-21T14:32:08.000Z",
         *       "createdMs": 1795271528000,
         *       "updatedAt": "2026-11-21T14:32:08.000Z",
         *       "updatedMs": 1795271528000,
         *       "version": 17
         *     }
         */
        Job: {
            /** Format: int64 */
            id: number;
            name: string;
            group: components["schemas"]["GroupRef"];
            /** @description XXL-JOB's author */
            owner: string;
            state: components["schemas"]["JobState"];
            /** @description Why the center stopped it; null where a user did: the reason that the user gave stands in the history */
            stopReason?: string | null;
            schedule: components["schemas"]["Schedule"];
            task: components["schemas"]["Task"];
            running: components["schemas"]["Running"];
            /** @description Started after a success */
            children: number[];
            alarmEmails?: string[];
            /**
             * Format: date-time
             * @description Next firing that is certain or computed, RFC 3339 in UTC with milliseconds
             */
            nextAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            nextMs?: number | null;
            /**
             * Format: date-time
             * @description Last firing, RFC 3339 in UTC with milliseconds
             */
            lastAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            lastMs?: number | null;
            recent?: components["schemas"]["ResultDot"][];
            streak?: components["schemas"]["Streak"] | null;
            /**
             * Format: int64
             * @description Newest version of a GLUE job
             */
            scriptVersion?: number | null;
            /**
             * Format: date-time
             * @description Made, RFC 3339 in UTC with milliseconds
             */
            createdAt?: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            createdMs?: number;
            /**
             * Format: date-time
             * @description Last edit, RFC 3339 in UTC with milliseconds
             */
            updatedAt?: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            updatedMs?: number;
            /** @description Also in the ETag */
            version: number;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 42,
         *           "name": "Nightly ledger backup",
         *           "group": {
         *             "id": 3,
         *             "app": "ops-agent",
         *             "title": "Operations"
         *           },
         *           "owner": "ops-1",
         *           "state": "scheduled",
         *           "stopReason": null,
         *           "schedule": {
         *             "type": "CRON",
         *             "conf": "0 30 2 ? * SUN-FRI",
         *             "zone": "Europe/Berlin",
         *             "dst": "smart",
         *             "misfire": "DO_NOTHING",
         *             "misfireMax": 100
         *           },
         *           "task": {
         *             "kind": "GLUE_SHELL",
         *             "handler": "",
         *             "param": "--full"
         *           },
         *           "running": {
         *             "route": "ROUND",
         *             "block": "SERIAL_EXECUTION",
         *             "timeoutS": 0,
         *             "retries": 2,
         *             "retryDelayMs": 5000,
         *             "retryBackoff": 1,
         *             "startDeadlineMs": 60000,
         *             "onUnknown": "wait"
         *           },
         *           "children": [],
         *           "alarmEmails": [],
         *           "nextAt": "2026-11-22T01:30:00.000Z",
         *           "nextMs": 1795311000000,
         *           "lastAt": "2026-11-21T01:30:00.000Z",
         *           "lastMs": 1795224600000,
         *           "recent": [
         *             {
         *               "runId": 9006120,
         *               "outcome": "failed",
         *               "tookMs": 41185
         *             }
         *           ],
         *           "streak": {
         *             "outcome": "failed",
         *             "count": 1,
         *             "sinceAt": "2026-11-21T01:30:00.000Z",
         *             "sinceMs": 1795224600000
         *           },
         *           "scriptVersion": 12,
         *           "createdAt": "2026-11-21T14:32:08.000Z",
         *           "createdMs": 1795271528000,
         *           "updatedAt": "2026-11-21T14:32:08.000Z",
         *           "updatedMs": 1795271528000,
         *           "version": 17
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        JobList: {
            items: components["schemas"]["Job"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "name": "Nightly ledger backup",
         *       "groupId": 3,
         *       "owner": "ops-1",
         *       "schedule": {
         *         "type": "CRON",
         *         "conf": "0 30 2 ? * SUN-FRI",
         *         "zone": "Europe/Berlin",
         *         "dst": "smart",
         *         "misfire": "DO_NOTHING",
         *         "misfireMax": 100
         *       },
         *       "task": {
         *         "kind": "BEAN",
         *         "handler": "backupHandler",
         *         "param": "--full"
         *       },
         *       "running": {
         *         "route": "ROUND",
         *         "block": "SERIAL_EXECUTION"
         *       },
         *       "start": true
         *     }
         */
        JobNew: {
            name: string;
            /** Format: int64 */
            groupId: number;
            /** @description Absent: the asker */
            owner?: string;
            schedule: components["schemas"]["Schedule"];
            task: components["schemas"]["Task"];
            running?: components["schemas"]["Running"];
            children?: number[];
            alarmEmails?: string[];
            /** @description Of a GLUE job: its first version. Also needs `scripts:write` */
            script?: string | null;
            /**
             * @description Schedule it at once
             * @default false
             */
            start: boolean;
        };
        /**
         * @description JSON merge patch (RFC 7396): what is absent stays, null goes back to the default
         * @example {
         *       "schedule": {
         *         "conf": "0 0 3 ? * SUN-FRI"
         *       }
         *     }
         */
        JobPatch: {
            name?: string;
            /** Format: int64 */
            groupId?: number;
            owner?: string;
            schedule?: Record<string, never>;
            task?: Record<string, never>;
            running?: Record<string, never>;
            children?: number[];
            alarmEmails?: string[];
        };
        /**
         * @example {
         *       "reason": "release of 14:00"
         *     }
         */
        StopRequest: {
            /** @description Kept in history */
            reason?: string;
        };
        /**
         * @example {
         *       "param": "--full",
         *       "addresses": []
         *     }
         */
        Trigger: {
            /** @description null or absent: the job's own */
            param?: string | null;
            /** @description Of the group; empty: routed */
            addresses?: string[];
        };
        /**
         * @example {
         *       "runId": 9007412
         *     }
         */
        Triggered: {
            /**
             * Format: int64
             * @description Its page is /runs/{runId}
             */
            runId: number;
        };
        /**
         * @example {
         *       "at": "2026-11-22T01:30:00.000Z",
         *       "ms": 1795311000000,
         *       "local": "2026-11-22T02:30:00",
         *       "offset": "+01:00",
         *       "zone": "Europe/Berlin",
         *       "planned": false,
         *       "note": null,
         *       "crowd": 0
         *     }
         */
        Fire: {
            /** Format: date-time */
            at: string;
            /** Format: int64 */
            ms: number;
            /** @description Wall time in the job's zone */
            local: string;
            offset: string;
            zone: string;
            /** @description Its row is on disk already */
            planned?: boolean;
            /** @enum {string|null} */
            note?: "gap_moved" | "overlap_first" | "overlap_second" | null;
            /** @description Other jobs that fire in the same second, of groups that the asker may see; absent: not known */
            crowd?: number;
        };
        /**
         * @example {
         *       "schedule": {
         *         "type": "CRON",
         *         "conf": "0 30 2 ? * SUN-FRI",
         *         "zone": "Europe/Berlin",
         *         "dst": "smart",
         *         "misfire": "DO_NOTHING",
         *         "misfireMax": 100
         *       },
         *       "count": 10,
         *       "language": "en",
         *       "days": 371
         *     }
         */
        PreviewRequest: {
            schedule: components["schemas"]["Schedule"];
            /**
             * Format: int64
             * @description Absent: now
             */
            fromMs?: number;
            /** @default 10 */
            count: number;
            /**
             * @description Length of the calendar; 0: none
             * @default 0
             */
            days: number;
            /**
             * @description Of sentence and meanings; absent: en
             * @enum {string}
             */
            language?: "en" | "zh-CN" | "zh-TW";
            /**
             * Format: int64
             * @description Left out of the crowd
             */
            jobId?: number | null;
        };
        Warning: {
            /**
             * @description rare: less than once a year; dense: more than 8,640 times a day; crowded: 20 other jobs or more in one second; zone_differs: ONCE is written with an offset that is not the zone's; both_days: of an expression that is refused
             * @enum {string}
             */
            code: "never_fires" | "gap" | "overlap" | "leap_day_only" | "rare" | "crowded" | "dense" | "both_days" | "zone_differs";
            detail: string;
            /** @description Values of the warning, for translation; `remedy` is a word for what helps */
            params?: {
                [key: string]: string | number | boolean | null;
            };
            /**
             * Format: date-time
             * @description Where it strikes, RFC 3339 in UTC with milliseconds
             */
            whenAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            whenMs?: number | null;
        };
        /**
         * @example {
         *       "valid": true,
         *       "sentence": "At 02:30, every day except Saturday, in Europe/Berlin.",
         *       "fields": [
         *         {
         *           "name": "hour",
         *           "text": "2",
         *           "meaning": "at 02"
         *         }
         *       ],
         *       "fires": [
         *         {
         *           "at": "2026-11-22T01:30:00.000Z",
         *           "ms": 1795311000000,
         *           "local": "2026-11-22T02:30:00",
         *           "offset": "+01:00",
         *           "zone": "Europe/Berlin",
         *           "planned": false,
         *           "note": null,
         *           "crowd": 0
         *         }
         *       ],
         *       "warnings": [
         *         {
         *           "code": "gap",
         *           "detail": "28 March 2027 has no 02:30: it fires at 03:00",
         *           "params": {},
         *           "whenAt": "2027-03-28T01:00:00.000Z",
         *           "whenMs": 1806195600000
         *         }
         *       ],
         *       "calendar": [
         *         {
         *           "day": "2026-11-22",
         *           "count": 1
         *         }
         *       ],
         *       "errors": [],
         *       "suggestion": null
         *     }
         */
        Preview: {
            valid: boolean;
            sentence: string | null;
            fields: {
                /** @enum {string} */
                name: "second" | "minute" | "hour" | "day" | "month" | "weekday" | "year";
                text: string;
                meaning: string;
            }[];
            fires: components["schemas"]["Fire"][];
            warnings: components["schemas"]["Warning"][];
            calendar: {
                /** Format: date */
                day: string;
                count: number;
                marks?: ("gap" | "overlap")[];
            }[];
            /** @description Of an expression that is refused: the answer is still 200 */
            errors?: components["schemas"]["FieldError"][];
            /** @description What was probably meant, for example the six-field form of a Unix crontab line */
            suggestion: string | null;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "name": "Europe/Berlin",
         *           "offset": "+01:00"
         *         }
         *       ],
         *       "server": "Asia/Shanghai"
         *     }
         */
        Zones: {
            items: {
                name: string;
                /** @description Now */
                offset: string;
            }[];
            server: string;
        };
        /**
         * @example {
         *       "window": 100,
         *       "durations": {
         *         "p50Ms": 41200,
         *         "p95Ms": 46200,
         *         "maxMs": 80100
         *       },
         *       "days": [
         *         {
         *           "day": "2026-11-21",
         *           "succeeded": 0,
         *           "failed": 1
         *         }
         *       ],
         *       "heat": [
         *         0,
         *         0,
         *         1
         *       ]
         *     }
         */
        JobStats: {
            /** @description Runs looked at */
            window: number;
            durations: {
                p50Ms: number;
                p95Ms: number;
                maxMs: number;
            } | null;
            days: {
                /** Format: date */
                day: string;
                succeeded: number;
                failed: number;
            }[];
            /** @description Runs by hour of the day in the zone of the server, last 8 days: 24 numbers */
            heat: number[];
        };
        /**
         * @example {
         *       "version": 12,
         *       "remark": "zstd in place of gzip",
         *       "author": {
         *         "id": 1,
         *         "name": "ops-1"
         *       },
         *       "bytes": 214,
         *       "createdAt": "2026-11-21T14:32:08.000Z",
         *       "createdMs": 1795271528000,
         *       "source": null
         *     }
         */
        Script: {
            /**
             * Format: int64
             * @description Id of the row in `xxl_job_logglue`; 0: the source of a job that has none yet
             */
            version: number;
            remark: string;
            /** @description From the audit; null: not published through this server */
            author: components["schemas"]["Person"] | null;
            bytes: number;
            /** @description Absent in lists */
            source?: string | null;
            /**
             * Format: date-time
             * @description Published, RFC 3339 in UTC with milliseconds
             */
            createdAt: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            createdMs: number;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "version": 12,
         *           "remark": "zstd in place of gzip",
         *           "author": {
         *             "id": 1,
         *             "name": "ops-1"
         *           },
         *           "bytes": 214,
         *           "createdAt": "2026-11-21T14:32:08.000Z",
         *           "createdMs": 1795271528000,
         *           "source": null
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        ScriptList: {
            items: components["schemas"]["Script"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "source": "#!/bin/bash\n…",
         *       "remark": "zstd in place of gzip",
         *       "baseVersion": 11
         *     }
         */
        ScriptNew: {
            source: string;
            remark: string;
            /**
             * Format: int64
             * @description The version that was edited; another one since then: 412
             */
            baseVersion: number | null;
        };
        /**
         * @example {
         *       "id": 801,
         *       "actor": {
         *         "id": 1,
         *         "name": "ops-1"
         *       },
         *       "via": "console",
         *       "address": "10.1.2.3",
         *       "action": "job.update",
         *       "object": {
         *         "kind": "job",
         *         "id": "42",
         *         "name": "Nightly ledger backup"
         *       },
         *       "changes": [
         *         {
         *           "field": "/schedule/conf",
         *           "before": "0 0 2 * * ?",
         *           "after": "0 30 2 ? * SUN-FRI"
         *         }
         *       ],
         *       "items": 0,
         *       "reason": null,
         *       "at": "2026-11-21T14:32:08.000Z",
         *       "ms": 1795271528000
         *     }
         */
        Audit: {
            /** Format: int64 */
            id: number;
            actor: components["schemas"]["Person"] | null;
            /** @enum {string} */
            via: "console" | "token" | "form_api" | "center" | "cli";
            address?: string;
            action: string;
            object: {
                /** @enum {string} */
                kind: "job" | "group" | "executor" | "run" | "user" | "token" | "channel" | "rule" | "alarm" | "silence" | "delivery" | "session" | "node" | "system";
                /** @description Of an executor its key */
                id: string;
                name: string;
            };
            changes: {
                field: string;
                /** @description Any JSON; secrets are masked */
                before: unknown;
                /** @description Any JSON; secrets are masked */
                after: unknown;
            }[];
            /** @description Of a bulk action */
            items?: number;
            reason?: string | null;
            /** Format: date-time */
            at: string;
            /** Format: int64 */
            ms: number;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 801,
         *           "actor": {
         *             "id": 1,
         *             "name": "ops-1"
         *           },
         *           "via": "console",
         *           "address": "10.1.2.3",
         *           "action": "job.update",
         *           "object": {
         *             "kind": "job",
         *             "id": "42",
         *             "name": "Nightly ledger backup"
         *           },
         *           "changes": [
         *             {
         *               "field": "/schedule/conf",
         *               "before": "0 0 2 * * ?",
         *               "after": "0 30 2 ? * SUN-FRI"
         *             }
         *           ],
         *           "items": 0,
         *           "reason": null,
         *           "at": "2026-11-21T14:32:08.000Z",
         *           "ms": 1795271528000
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        AuditList: {
            items: components["schemas"]["Audit"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "action": "stop",
         *       "ids": [
         *         42,
         *         118
         *       ],
         *       "reason": "release",
         *       "dryRun": true
         *     }
         */
        JobBatch: {
            /** @enum {string} */
            action: "start" | "stop" | "trigger" | "delete" | "set_owner" | "move_group";
            ids: number[];
            reason?: string;
            owner?: string;
            /** Format: int64 */
            groupId?: number;
            /**
             * @description Only say what would happen
             * @default false
             */
            dryRun: boolean;
        };
        /**
         * @example {
         *       "dryRun": true,
         *       "done": 1,
         *       "refused": 1,
         *       "items": [
         *         {
         *           "id": 42,
         *           "ok": true,
         *           "problem": null
         *         },
         *         {
         *           "id": 118,
         *           "ok": false,
         *           "problem": {
         *             "type": "/problems/forbidden",
         *             "title": "Not permitted",
         *             "status": 403,
         *             "code": "forbidden"
         *           }
         *         }
         *       ],
         *       "consequences": {
         *         "firingsWithdrawn": 2,
         *         "retriesWithdrawn": 1,
         *         "openRuns": 1,
         *         "firings24h": 96,
         *         "childrenOfOthers": 0
         *       }
         *     }
         */
        BatchResult: {
            dryRun: boolean;
            done: number;
            refused: number;
            items: {
                /** Format: int64 */
                id: number;
                ok: boolean;
                /** Format: int64 */
                runId?: number | null;
                problem?: components["schemas"]["Problem"] | null;
            }[];
            consequences: components["schemas"]["Consequences"];
        };
        /** @description What the action takes away or sets off; shown before it is confirmed */
        Consequences: {
            /** @description Planned and not sent */
            firingsWithdrawn?: number;
            retriesWithdrawn?: number;
            /** @description At executors now; they go on, a deletion closes them */
            openRuns?: number;
            /** @description That would have fired in the next 24 h; FIX_DELAY as if its runs took no time */
            firings24h?: number;
            /** @description Jobs that name these as children */
            childrenOfOthers?: number;
            /** @description That are deleted with it, as far as 200,000 */
            logRows?: number;
            /** @description What becomes of the firings of the next 24 h. Absent of several jobs, and of an update that names no schedule */
            changes?: components["schemas"]["FiringChanges"];
        };
        /** @description What becomes of the firings of the next 24 h */
        FiringChanges: {
            /** @description The first 100 */
            items: {
                /**
                 * @description move: one that vanishes and one that appears between two that stay
                 * @enum {string}
                 */
                what: "vanish" | "appear" | "move";
                /**
                 * Format: int64
                 * @description When it would have fired; of appear when it will
                 */
                ms: number;
                /**
                 * Format: int64
                 * @description Where it moves to
                 */
                toMs: number | null;
            }[];
            vanish: number;
            appear: number;
            move: number;
            /**
             * Format: int64
             * @description Looked at up to here: 20,000 firings at most
             */
            untilMs: number;
        };
        /**
         * @example {
         *       "id": 3,
         *       "app": "ops-agent",
         *       "title": "Operations",
         *       "addressing": "registry",
         *       "addresses": [],
         *       "up": 2,
         *       "total": 2,
         *       "jobs": 14,
         *       "failing": 1,
         *       "updatedAt": "2026-11-21T14:32:08.000Z",
         *       "updatedMs": 1795271528000,
         *       "version": 4
         *     }
         */
        Group: {
            /** Format: int64 */
            id: number;
            app: string;
            title: string;
            /** @enum {string} */
            addressing: "registry" | "manual";
            /** @description Listed by hand */
            addresses: string[];
            /** @description Addresses that runs are routed to */
            up: number;
            total: number;
            jobs: number;
            /** @description Jobs whose last run failed */
            failing?: number;
            /**
             * Format: date-time
             * @description Last edit, RFC 3339 in UTC with milliseconds
             */
            updatedAt?: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            updatedMs?: number;
            version: number;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 3,
         *           "app": "ops-agent",
         *           "title": "Operations",
         *           "addressing": "registry",
         *           "addresses": [],
         *           "up": 2,
         *           "total": 2,
         *           "jobs": 14,
         *           "failing": 1,
         *           "updatedAt": "2026-11-21T14:32:08.000Z",
         *           "updatedMs": 1795271528000,
         *           "version": 4
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        GroupList: {
            items: components["schemas"]["Group"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "app": "ops-agent",
         *       "title": "Operations",
         *       "addressing": "registry",
         *       "addresses": []
         *     }
         */
        GroupNew: {
            app: string;
            title: string;
            /** @enum {string} */
            addressing?: "registry" | "manual";
            addresses?: string[];
        };
        /**
         * @example {
         *       "title": "Operations EU"
         *     }
         */
        GroupPatch: {
            title?: string;
            /** @enum {string} */
            addressing?: "registry" | "manual";
            addresses?: string[];
        };
        /**
         * @example {
         *       "groupId": 3,
         *       "token": null,
         *       "next": "Zt8RkW2xHc5mQ1vLy7uJd4pGn0aFs9eBoKi3TrXhYqC",
         *       "sinceAt": "2026-11-21T14:32:08.000Z",
         *       "sinceMs": 1795271528000,
         *       "moved": 1,
         *       "left": 1,
         *       "waiting": [
         *         {
         *           "address": "http://10.0.3.7:9999/",
         *           "registered": true
         *         }
         *       ]
         *     }
         */
        GroupToken: {
            /** Format: int64 */
            groupId: number;
            /** @description In force; null: the center's */
            token: string | null;
            /** @description During a change: serves as well, and will alone; null: there is no change */
            next: string | null;
            /**
             * Format: date-time
             * @description So since then, RFC 3339 in UTC with milliseconds; null: it has never had one, or it was removed
             */
            sinceAt: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            sinceMs: number | null;
            /** @description During a change: addresses of the group that came with the new one */
            moved: number;
            /** @description During a change: the others */
            left: number;
            /** @description Of the others, at most 1,000 */
            waiting: {
                address: string;
                /** @description It has registered since with the one so far; else nothing is known of it yet */
                registered: boolean;
            }[];
        };
        /** @example {} */
        GroupTokenChange: {
            /** @description The new one; without it the center makes 43 random characters */
            token?: string;
        };
        /**
         * @example {
         *       "key": "aHR0cDovLzEwLjAuMy43Ojk5OTkv",
         *       "address": "http://10.0.3.7:9999/",
         *       "groups": [
         *         {
         *           "id": 3,
         *           "app": "ops-agent",
         *           "title": "Operations"
         *         }
         *       ],
         *       "state": "refusing",
         *       "source": "registry",
         *       "ours": true,
         *       "lane": {
         *         "waiting": 12,
         *         "inFlight": 3,
         *         "connections": 8,
         *         "connectionsMax": 64
         *       },
         *       "open": 7,
         *       "unknown": 1,
         *       "beatAgeMs": 12800,
         *       "answerP95Ms": 4.1,
         *       "sinceAt": "2026-11-21T14:32:08.000Z",
         *       "sinceMs": 1795271528000,
         *       "lastError": "connection refused",
         *       "lastErrorAt": "2026-11-21T14:32:08.000Z",
         *       "lastErrorMs": 1795271528000
         *     }
         */
        Executor: {
            /** @description Address in base64url, for paths */
            key: string;
            /** @description As registered */
            address: string;
            groups: components["schemas"]["GroupRef"][];
            /**
             * @description `refusing`: connections are refused; `silent`: registered, no beat for 60 s; `draining`: it has unregistered and works on runs still
             * @enum {string}
             */
            state: "up" | "refusing" | "silent" | "draining";
            /** @enum {string} */
            source: "registry" | "manual" | "both";
            /** @description Remembers log ids */
            ours?: boolean;
            lane: {
                /** @description Runs that are due and wait for a connection */
                waiting: number;
                /** @description Calls of /run without an answer yet */
                inFlight: number;
                /** @description Calls that may be in flight now; more if it answers slowly */
                connections: number;
                /** @description Calls that may be in flight at most */
                connectionsMax: number;
            };
            /** @description Accepted runs it works on */
            open: number;
            /** @description Sent runs whose outcome is unknown */
            unknown: number;
            /** @description Since it last registered; null if it has not */
            beatAgeMs?: number | null;
            /** @description Of the last few hundred answers to /run, about */
            answerP95Ms?: number | null;
            /**
             * Format: date-time
             * @description In this state since, RFC 3339 in UTC with milliseconds
             */
            sinceAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            sinceMs?: number | null;
            /** @description Of the last call that failed since the center started */
            lastError?: string | null;
            /**
             * Format: date-time
             * @description When that was, RFC 3339 in UTC with milliseconds
             */
            lastErrorAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            lastErrorMs?: number | null;
        };
        /**
         * @description What is in the memory of another server of the database alone, and is missing here: one sentence a server that did not say it (`server b does not answer`). Empty: all is known
         * @example []
         */
        NotKnown: string[];
        /**
         * @example {
         *       "notKnown": [],
         *       "items": [
         *         {
         *           "key": "aHR0cDovLzEwLjAuMy43Ojk5OTkv",
         *           "address": "http://10.0.3.7:9999/",
         *           "groups": [
         *             {
         *               "id": 3,
         *               "app": "ops-agent",
         *               "title": "Operations"
         *             }
         *           ],
         *           "state": "refusing",
         *           "source": "registry",
         *           "ours": true,
         *           "lane": {
         *             "waiting": 12,
         *             "inFlight": 3,
         *             "connections": 8,
         *             "connectionsMax": 64
         *           },
         *           "open": 7,
         *           "unknown": 1,
         *           "beatAgeMs": 12800,
         *           "answerP95Ms": 4.1,
         *           "sinceAt": "2026-11-21T14:32:08.000Z",
         *           "sinceMs": 1795271528000,
         *           "lastError": "connection refused",
         *           "lastErrorAt": "2026-11-21T14:32:08.000Z",
         *           "lastErrorMs": 1795271528000
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        ExecutorList: {
            notKnown: components["schemas"]["NotKnown"];
            items: components["schemas"]["Executor"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "reachable": true,
         *       "tookMs": 1.8,
         *       "said": "code 200",
         *       "busyJobs": [
         *         42
         *       ]
         *     }
         */
        Probe: {
            reachable: boolean;
            tookMs: number;
            /** @description What it answered to /beat */
            said?: string;
            /** @description Jobs that the asker may see of which a run is accepted there, or of unknown outcome, as far as the center knows; at most 100 */
            busyJobs?: number[] | null;
        };
        /** @description Why it did not succeed; the catalogue is in the documentation */
        Cause: {
            code: string;
            text: string;
            params?: {
                [key: string]: string | number | boolean | null;
            };
        };
        /**
         * @example {
         *       "id": 9006120,
         *       "job": {
         *         "id": 42,
         *         "name": "Nightly ledger backup"
         *       },
         *       "group": {
         *         "id": 3,
         *         "app": "ops-agent",
         *         "title": "Operations"
         *       },
         *       "outcome": "failed",
         *       "phase": "failed",
         *       "kind": "CRON",
         *       "attempt": 0,
         *       "shard": null,
         *       "address": "10.0.3.7:9999",
         *       "handler": "",
         *       "param": "--full",
         *       "cause": {
         *         "code": "PE-3001",
         *         "text": "Script ended with exit code 3"
         *       },
         *       "scheduledAt": "2026-11-21T01:30:00.000Z",
         *       "scheduledMs": 1795224600000,
         *       "sentAt": "2026-11-21T01:30:00.001Z",
         *       "sentMs": 1795224600001,
         *       "endedAt": "2026-11-21T01:30:41.190Z",
         *       "endedMs": 1795224641190,
         *       "tookMs": 41185,
         *       "latenessMs": 1.3,
         *       "resultCode": 3,
         *       "message": "backup.sh: line 4: pipeline ended with code 3"
         *     }
         */
        Run: {
            /**
             * Format: int64
             * @description The log id
             */
            id: number;
            job: components["schemas"]["Ref"];
            group: components["schemas"]["GroupRef"];
            outcome: components["schemas"]["Outcome"];
            /** @enum {string} */
            phase: "planned" | "sent" | "unknown" | "accepted" | "lost" | "succeeded" | "failed" | "timed_out" | "killed" | "rejected" | "unroutable";
            /** @enum {string} */
            kind: "CRON" | "MISFIRE" | "MANUAL" | "RETRY" | "PARENT" | "API";
            attempt: number;
            shard?: {
                index: number;
                total: number;
            } | null;
            address?: string | null;
            handler?: string;
            param?: string;
            cause?: components["schemas"]["Cause"] | null;
            /**
             * Format: date-time
             * @description Scheduled for, RFC 3339 in UTC with milliseconds
             */
            scheduledAt: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            scheduledMs: number;
            /**
             * Format: date-time
             * @description Left the center, RFC 3339 in UTC with milliseconds
             */
            sentAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            sentMs?: number | null;
            /**
             * Format: date-time
             * @description Ended, RFC 3339 in UTC with milliseconds
             */
            endedAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            endedMs?: number | null;
            /** @description From accepted to ended */
            tookMs?: number | null;
            /** @description Sent minus due */
            latenessMs?: number | null;
            resultCode?: number | null;
            message?: string | null;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 9006120,
         *           "job": {
         *             "id": 42,
         *             "name": "Nightly ledger backup"
         *           },
         *           "group": {
         *             "id": 3,
         *             "app": "ops-agent",
         *             "title": "Operations"
         *           },
         *           "outcome": "failed",
         *           "phase": "failed",
         *           "kind": "CRON",
         *           "attempt": 0,
         *           "shard": null,
         *           "address": "10.0.3.7:9999",
         *           "handler": "",
         *           "param": "--full",
         *           "cause": {
         *             "code": "PE-3001",
         *             "text": "Script ended with exit code 3"
         *           },
         *           "scheduledAt": "2026-11-21T01:30:00.000Z",
         *           "scheduledMs": 1795224600000,
         *           "sentAt": "2026-11-21T01:30:00.001Z",
         *           "sentMs": 1795224600001,
         *           "endedAt": "2026-11-21T01:30:41.190Z",
         *           "endedMs": 1795224641190,
         *           "tookMs": 41185,
         *           "latenessMs": 1.3,
         *           "resultCode": 3,
         *           "message": "backup.sh: line 4: pipeline ended with code 3"
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        RunList: {
            items: components["schemas"]["Run"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @description One line of the story; the client words it from step and params
         * @example {
         *       "step": "sent",
         *       "at": "2026-11-21T01:30:00.001Z",
         *       "ms": 1795224600001,
         *       "sinceMs": 1.3,
         *       "ok": true,
         *       "params": {
         *         "address": "10.0.3.7:9999",
         *         "bytes": 512,
         *         "waitedMs": 0
         *       }
         *     }
         */
        Step: {
            /** @enum {string} */
            step: "planned" | "routed" | "rerouted" | "due" | "waited" | "sent" | "refused" | "answered" | "accepted" | "unknown" | "queried" | "resent" | "started" | "ended" | "result_written" | "kill_wanted" | "killed" | "lost" | "late_result" | "retry_planned" | "child_planned" | "skipped" | "withdrawn";
            /** Format: date-time */
            at: string;
            /** Format: int64 */
            ms: number;
            /** @description Since the step before; null for the first, and where times are known to the second only */
            sinceMs?: number | null;
            ok: boolean;
            params?: {
                [key: string]: string | number | boolean | null | unknown[];
            };
        };
        /**
         * @description One run and what happened to it
         * @example {
         *       "run": {
         *         "id": 9006120,
         *         "job": {
         *           "id": 42,
         *           "name": "Nightly ledger backup"
         *         },
         *         "group": {
         *           "id": 3,
         *           "app": "ops-agent",
         *           "title": "Operations"
         *         },
         *         "outcome": "failed",
         *         "phase": "failed",
         *         "kind": "CRON",
         *         "attempt": 0,
         *         "shard": null,
         *         "address": "10.0.3.7:9999",
         *         "handler": "",
         *         "param": "--full",
         *         "cause": {
         *           "code": "PE-3001",
         *           "text": "Script ended with exit code 3"
         *         },
         *         "scheduledAt": "2026-11-21T01:30:00.000Z",
         *         "scheduledMs": 1795224600000,
         *         "sentAt": "2026-11-21T01:30:00.001Z",
         *         "sentMs": 1795224600001,
         *         "endedAt": "2026-11-21T01:30:41.190Z",
         *         "endedMs": 1795224641190,
         *         "tookMs": 41185,
         *         "latenessMs": 1.3,
         *         "resultCode": 3,
         *         "message": "backup.sh: line 4: pipeline ended with code 3"
         *       },
         *       "traceId": "5f0c1f1de7a1b2c3d4e5f60718293a4b",
         *       "notKnown": [],
         *       "story": [
         *         {
         *           "step": "sent",
         *           "at": "2026-11-21T01:30:00.001Z",
         *           "ms": 1795224600001,
         *           "sinceMs": 1.3,
         *           "ok": true,
         *           "params": {
         *             "address": "10.0.3.7:9999",
         *             "bytes": 512,
         *             "waitedMs": 0
         *           }
         *         }
         *       ],
         *       "exact": true,
         *       "related": {
         *         "retryOf": null,
         *         "retries": [
         *           9006131
         *         ],
         *         "parent": null,
         *         "children": [],
         *         "shards": [],
         *         "previous": 9005012,
         *         "next": null,
         *         "lastSuccess": 9004800
         *       },
         *       "neighbours": [
         *         {
         *           "runId": 9005012,
         *           "outcome": "succeeded",
         *           "tookMs": 40100
         *         }
         *       ],
         *       "sameCause": {
         *         "jobs": 0,
         *         "runs": 0
         *       },
         *       "changedSince": [
         *         {
         *           "id": 801,
         *           "actor": {
         *             "id": 1,
         *             "name": "ops-1"
         *           },
         *           "via": "console",
         *           "address": "10.1.2.3",
         *           "action": "job.update",
         *           "object": {
         *             "kind": "job",
         *             "id": "42",
         *             "name": "Nightly ledger backup"
         *           },
         *           "changes": [
         *             {
         *               "field": "/schedule/conf",
         *               "before": "0 0 2 * * ?",
         *               "after": "0 30 2 ? * SUN-FRI"
         *             }
         *           ],
         *           "items": 0,
         *           "reason": null,
         *           "at": "2026-11-21T14:32:08.000Z",
         *           "ms": 1795271528000
         *         }
         *       ],
         *       "usualMs": 41200,
         *       "log": {
         *         "available": true,
         *         "why": null
         *       }
         *     }
         */
        RunDetail: {
            notKnown: components["schemas"]["NotKnown"];
            run: components["schemas"]["Run"];
            /** @description The id under which a tracing system has it: that of the traceparent which its executor gets, and that the request which asked for it sent */
            traceId: string;
            story: components["schemas"]["Step"][];
            /** @description true: times are those that the center noted. It keeps them of runs that are open, did not succeed, were sent over 1 s late, had an unknown outcome, were asked for by hand, are retries or children, or have an id that 100 divides. false: times of steps are known to the second only */
            exact?: boolean;
            related: {
                /**
                 * Format: int64
                 * @description Absent if it is not known any more, as parent
                 */
                retryOf?: number | null;
                retries?: number[];
                /** Format: int64 */
                parent?: number | null;
                /** @description Runs of other jobs that its success has started, those that the asker may see */
                children?: number[];
                /** @description All shards of its broadcast by index, itself among them; those that the log has, as known to the second */
                shards?: number[];
                /** Format: int64 */
                previous?: number | null;
                /**
                 * Format: int64
                 * @description Absent if it lies too far away to be looked for
                 */
                next?: number | null;
                /** Format: int64 */
                lastSuccess?: number | null;
            };
            neighbours?: components["schemas"]["ResultDot"][];
            /** @description Of a run that has failed: other jobs that the asker may see whose last run failed for the same cause, and their failures in a row; the first 200 failing jobs are looked at */
            sameCause?: {
                jobs: number;
                runs: number;
            };
            /** @description Edits of the job since its last success before this run, newest first; at most 20 */
            changedSince?: components["schemas"]["Audit"][];
            /** @description Median of the last 100 */
            usualMs?: number | null;
            log?: {
                available: boolean;
                /** @enum {string|null} */
                why?: "not_started" | "executor_gone" | "cleaned" | "rejected" | null;
            };
        };
        /**
         * @example {
         *       "outcome": "killed",
         *       "said": "the executor ended it"
         *     }
         */
        Killed: {
            /** @enum {string} */
            outcome: "killed" | "withdrawn" | "ended_before";
            said: string;
        };
        /**
         * @example {
         *       "action": "rerun",
         *       "ids": [
         *         9006120
         *       ],
         *       "dryRun": false
         *     }
         */
        RunBatch: {
            /** @enum {string} */
            action: "kill" | "rerun";
            ids: number[];
            /** @default false */
            dryRun: boolean;
        };
        /**
         * @example {
         *       "rule": "older_3_months",
         *       "groupId": 3,
         *       "dryRun": true
         *     }
         */
        CleanRequest: {
            /**
             * @description The nine choices of XXL-JOB
             * @enum {string}
             */
            rule: "older_1_month" | "older_3_months" | "older_6_months" | "older_12_months" | "keep_1000" | "keep_10000" | "keep_30000" | "keep_100000" | "all";
            /** Format: int64 */
            groupId?: number | null;
            /** Format: int64 */
            jobId?: number | null;
            /**
             * @description Only count
             * @default true
             */
            dryRun: boolean;
        };
        /**
         * @example {
         *       "dryRun": true,
         *       "rows": 182311,
         *       "exact": true
         *     }
         */
        CleanResult: {
            dryRun: boolean;
            rows: number;
            exact: boolean;
        };
        /**
         * @example {
         *       "fromLine": 1,
         *       "toLine": 2,
         *       "lines": [
         *         "02:30:00.001 start",
         *         "02:30:00.214 dump chunk 0"
         *       ],
         *       "end": false,
         *       "state": "running",
         *       "readAt": "2026-11-21T14:32:08.000Z",
         *       "readMs": 1795271528000
         *     }
         */
        LogPage: {
            fromLine: number;
            toLine: number;
            /** @description Plain text with ANSI sequences as the job wrote them; never HTML */
            lines: string[];
            /** @description No more lines will come */
            end?: boolean;
            /** @enum {string} */
            state: "running" | "finished" | "unreachable" | "cleaned" | "not_started";
            /**
             * Format: date-time
             * @description When the executor was asked, RFC 3339 in UTC with milliseconds
             */
            readAt?: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            readMs?: number;
        };
        /**
         * @description Everything of the first screen in one answer, from counters
         * @example {
         *       "nowAt": "2026-11-21T14:32:08.000Z",
         *       "nowMs": 1795271528000,
         *       "now": {
         *         "zone": "Europe/Berlin"
         *       },
         *       "scheduler": {
         *         "ok": true,
         *         "reason": null,
         *         "unaccounted": 0,
         *         "planned": 4182077,
         *         "latenessP99Ms": 3.1,
         *         "horizonMs": 4600,
         *         "commitP99Ms": 2.4,
         *         "inFlight": 212,
         *         "unknown": 3,
         *         "waiting": 38,
         *         "open": 1021
         *       },
         *       "broken": [
         *         {
         *           "cause": {
         *             "code": "PE-2003",
         *             "text": "Connection refused"
         *           },
         *           "where": "10.0.3.7:9999",
         *           "group": {
         *             "id": 4,
         *             "app": "pay-executor",
         *             "title": "Payments"
         *           },
         *           "sinceAt": "2026-11-21T14:32:08.000Z",
         *           "sinceMs": 1795271528000,
         *           "count": 3,
         *           "jobs": [
         *             {
         *               "id": 118,
         *               "name": "Settle card payments",
         *               "owner": "dev-2",
         *               "streak": 6,
         *               "lastRunId": 9007341,
         *               "lastSuccessAt": "2026-11-21T14:32:08.000Z",
         *               "lastSuccessMs": 1795271528000,
         *               "recent": []
         *             }
         *           ]
         *         }
         *       ],
         *       "brokenTotal": 7,
         *       "attention": {
         *         "late": 11,
         *         "stuck": 2,
         *         "unknown": 3,
         *         "unroutable": 4
         *       },
         *       "notKnown": [],
         *       "executors": {
         *         "groups": 42,
         *         "addresses": 317,
         *         "bad": [
         *           {
         *             "id": 3,
         *             "app": "ops-agent",
         *             "title": "Operations",
         *             "addressing": "registry",
         *             "addresses": [],
         *             "up": 2,
         *             "total": 2,
         *             "jobs": 14,
         *             "failing": 1,
         *             "updatedAt": "2026-11-21T14:32:08.000Z",
         *             "updatedMs": 1795271528000,
         *             "version": 4
         *           }
         *         ]
         *       },
         *       "day": {
         *         "stepMs": 900000,
         *         "fromMs": 1795185128000,
         *         "succeeded": [
         *           612
         *         ],
         *         "failed": [
         *           3
         *         ],
         *         "previous": [
         *           598
         *         ]
         *       },
         *       "next": [
         *         {
         *           "atMs": 1795271530000,
         *           "job": {
         *             "id": 7,
         *             "name": "Heartbeat"
         *           },
         *           "app": "gateway",
         *           "shards": 1
         *         }
         *       ]
         *     }
         */
        Dashboard: {
            /**
             * Format: date-time
             * @description Clock of the center, RFC 3339 in UTC with milliseconds
             */
            nowAt: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            nowMs: number;
            now?: {
                zone: string;
            };
            scheduler: {
                ok: boolean;
                reason?: string | null;
                unaccounted: number;
                /** Format: int64 */
                planned?: number;
                latenessP99Ms: number | null;
                horizonMs: number;
                commitP99Ms?: number | null;
                inFlight: number;
                unknown: number;
                waiting: number;
                open: number;
            };
            /** @description Causes, the one with most jobs first; at most 20 */
            broken: {
                cause: components["schemas"]["Cause"];
                where?: string | null;
                group?: components["schemas"]["GroupRef"] | null;
                /**
                 * Format: date-time
                 * @description First of them, RFC 3339 in UTC with milliseconds
                 */
                sinceAt?: string | null;
                /**
                 * Format: int64
                 * @description The same instant in milliseconds since 1970
                 */
                sinceMs?: number | null;
                count: number;
                jobs: {
                    /** Format: int64 */
                    id: number;
                    name: string;
                    owner?: string;
                    streak: number;
                    /** Format: int64 */
                    lastRunId: number;
                    /**
                     * Format: date-time
                     * @description Last success, RFC 3339 in UTC with milliseconds
                     */
                    lastSuccessAt?: string | null;
                    /**
                     * Format: int64
                     * @description The same instant in milliseconds since 1970
                     */
                    lastSuccessMs?: number | null;
                    recent?: components["schemas"]["ResultDot"][];
                }[];
            }[];
            /** @description Failing jobs in all */
            brokenTotal: number;
            attention: {
                /** @description Sent over 1 s late in the last hour */
                late: number;
                /** @description Open for over 3 times the usual */
                stuck: number;
                /** @description Open with an unknown outcome */
                unknown: number;
                /** @description Jobs without an executor */
                unroutable: number;
            };
            notKnown: components["schemas"]["NotKnown"];
            executors: {
                groups: number;
                addresses: number;
                bad: components["schemas"]["Group"][];
            };
            day: {
                stepMs: number;
                /** Format: int64 */
                fromMs: number;
                succeeded: number[];
                failed: number[];
                /** @description A week earlier */
                previous: number[];
            };
            next: {
                /** Format: int64 */
                atMs: number;
                job: components["schemas"]["Ref"];
                app: string;
                shards: number;
            }[];
        };
        /**
         * @description Firings per minute ahead
         * @example {
         *       "fromMs": 1795271528000,
         *       "stepMs": 60000,
         *       "counts": [
         *         42,
         *         38,
         *         253
         *       ],
         *       "peaks": [
         *         {
         *           "atMs": 1795273200000,
         *           "count": 253,
         *           "jobs": [
         *             {
         *               "id": 97,
         *               "name": "FX rates import"
         *             }
         *           ]
         *         }
         *       ],
         *       "computedAt": "2026-11-21T14:32:08.000Z",
         *       "computedMs": 1795271528000,
         *       "partial": false
         *     }
         */
        Forecast: {
            /** Format: int64 */
            fromMs: number;
            stepMs: number;
            counts: number[];
            peaks: {
                /** Format: int64 */
                atMs: number;
                count: number;
                jobs: components["schemas"]["Ref"][];
            }[];
            /** @description true: still being computed for some jobs */
            partial: boolean;
            /**
             * Format: date-time
             * @description When, RFC 3339 in UTC with milliseconds
             */
            computedAt: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            computedMs: number;
        };
        /**
         * @description `failed`: a job failed, so often in a row; `recovered`: it succeeded again; `slow`: a run took longer; `stopped`: the center stopped a job; `late`: a firing was not sent within `longerMs` after its scheduled time; `empty`: a group has enabled jobs and no executor; `gone`: an executor does not beat or refuses connections; `center`: the center itself is not well
         * @enum {string}
         */
        AlarmKind: "failed" | "recovered" | "slow" | "stopped" | "late" | "empty" | "gone" | "center";
        /** @enum {string} */
        AlarmLevel: "info" | "warning" | "critical";
        /**
         * @example {
         *       "from": "22:00",
         *       "to": "06:30"
         *     }
         */
        AlarmQuiet: {
            from: string;
            to: string;
        };
        /**
         * @example {
         *       "id": 3,
         *       "name": "Payments fail",
         *       "kind": "failed",
         *       "level": "critical",
         *       "groupId": 4,
         *       "jobId": null,
         *       "inARow": 1,
         *       "longerMs": null,
         *       "channels": [
         *         "webhook"
         *       ],
         *       "quiet": {
         *         "from": "22:00",
         *         "to": "06:30"
         *       },
         *       "repeatMs": 14400000,
         *       "enabled": true,
         *       "createdAt": "2026-11-21T14:32:08.000Z",
         *       "createdMs": 1795271528000,
         *       "updatedAt": "2026-11-21T14:32:08.000Z",
         *       "updatedMs": 1795271528000,
         *       "version": 1
         *     }
         */
        AlarmRule: {
            /** Format: int64 */
            id: number;
            name: string;
            kind: components["schemas"]["AlarmKind"];
            level: components["schemas"]["AlarmLevel"];
            /**
             * Format: int64
             * @description Of this group; null: of all, or of the job
             */
            groupId: number | null;
            /**
             * Format: int64
             * @description Of this job; null: of all, or of the group
             */
            jobId: number | null;
            /** @description Of `failed`: so many failures, 1 if it is not said; else null */
            inARow: number | null;
            /**
             * Format: int64
             * @description Of `slow`: a run that took longer; of `late`: it has not run so long after its scheduled time; of `empty`, `gone` and `center`: it has lasted so long, null: at once; else null
             */
            longerMs: number | null;
            /** @description Names of the channels that are told */
            channels: string[];
            /** @description Times of day in the zone of the center, between which nothing is told; null: none */
            quiet: components["schemas"]["AlarmQuiet"] | null;
            /**
             * Format: int64
             * @description What goes on is told again after so long; null: never
             */
            repeatMs: number | null;
            enabled: boolean;
            /** Format: date-time */
            createdAt: string;
            /** Format: int64 */
            createdMs: number;
            /** Format: date-time */
            updatedAt: string;
            /** Format: int64 */
            updatedMs: number;
            /** Format: int64 */
            version: number;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 3,
         *           "name": "Payments fail",
         *           "kind": "failed",
         *           "level": "critical",
         *           "groupId": 4,
         *           "jobId": null,
         *           "inARow": 1,
         *           "longerMs": null,
         *           "channels": [
         *             "webhook"
         *           ],
         *           "quiet": {
         *             "from": "22:00",
         *             "to": "06:30"
         *           },
         *           "repeatMs": 14400000,
         *           "enabled": true,
         *           "createdAt": "2026-11-21T14:32:08.000Z",
         *           "createdMs": 1795271528000,
         *           "updatedAt": "2026-11-21T14:32:08.000Z",
         *           "updatedMs": 1795271528000,
         *           "version": 1
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        AlarmRuleList: {
            items: components["schemas"]["AlarmRule"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "name": "Payments fail",
         *       "kind": "failed",
         *       "level": "critical",
         *       "groupId": 4,
         *       "channels": [
         *         "webhook"
         *       ],
         *       "repeatMs": 14400000
         *     }
         */
        AlarmRuleNew: {
            name: string;
            kind: components["schemas"]["AlarmKind"];
            level?: components["schemas"]["AlarmLevel"];
            /**
             * Format: int64
             * @description Of this group; null: of all, or of the job
             */
            groupId?: number | null;
            /**
             * Format: int64
             * @description Of this job; null: of all, or of the group
             */
            jobId?: number | null;
            /** @description Of `failed`: so many failures, 1 if it is not said; else null */
            inARow?: number | null;
            /**
             * Format: int64
             * @description Of `slow`: a run that took longer; of `late`: it has not run so long after its scheduled time; of `empty`, `gone` and `center`: it has lasted so long, null: at once; else null
             */
            longerMs?: number | null;
            /** @description Names of the channels that are told */
            channels: string[];
            /** @description Times of day in the zone of the center, between which nothing is told; null: none */
            quiet?: components["schemas"]["AlarmQuiet"] | null;
            /**
             * Format: int64
             * @description What goes on is told again after so long; null: never
             */
            repeatMs?: number | null;
            /** @default true */
            enabled: boolean;
        };
        /**
         * @example {
         *       "enabled": false
         *     }
         */
        AlarmRulePatch: {
            name?: string;
            kind?: components["schemas"]["AlarmKind"];
            level?: components["schemas"]["AlarmLevel"];
            /**
             * Format: int64
             * @description Of this group; null: of all, or of the job
             */
            groupId?: number | null;
            /**
             * Format: int64
             * @description Of this job; null: of all, or of the group
             */
            jobId?: number | null;
            /** @description Of `failed`: so many failures, 1 if it is not said; else null */
            inARow?: number | null;
            /**
             * Format: int64
             * @description Of `slow`: a run that took longer; of `late`: it has not run so long after its scheduled time; of `empty`, `gone` and `center`: it has lasted so long, null: at once; else null
             */
            longerMs?: number | null;
            /** @description Names of the channels that are told */
            channels?: string[];
            /** @description Times of day in the zone of the center, between which nothing is told; null: none */
            quiet?: components["schemas"]["AlarmQuiet"] | null;
            /**
             * Format: int64
             * @description What goes on is told again after so long; null: never
             */
            repeatMs?: number | null;
            enabled?: boolean;
        };
        /**
         * @description What a rule has found. `jobs` is how many it has been about, `open` how many have not recovered, `messages` how often it was told
         * @example {
         *       "id": 17,
         *       "rule": {
         *         "id": 3,
         *         "name": "Payments fail"
         *       },
         *       "kind": "failed",
         *       "level": "critical",
         *       "group": {
         *         "id": 4,
         *         "app": "pay-executor",
         *         "title": "Payments"
         *       },
         *       "cause": "executor",
         *       "executor": "http://10.0.3.7:9999/",
         *       "check": null,
         *       "text": "cannot connect to @: Connection refused",
         *       "sinceAt": "2026-11-21T14:32:08.000Z",
         *       "sinceMs": 1795271528000,
         *       "lastAt": "2026-11-21T14:32:08.000Z",
         *       "lastMs": 1795271528000,
         *       "jobs": 400,
         *       "open": 398,
         *       "events": 402,
         *       "messages": 1,
         *       "toldAt": "2026-11-21T14:32:08.000Z",
         *       "toldMs": 1795271528000,
         *       "acknowledgedAt": null,
         *       "acknowledgedMs": null,
         *       "acknowledgedBy": null,
         *       "closedAt": null,
         *       "closedMs": null,
         *       "closedBy": null
         *     }
         */
        Alarm: {
            /** Format: int64 */
            id: number;
            rule: {
                /** Format: int64 */
                id: number;
                /** @description null: it has been deleted */
                name: string | null;
            };
            kind: components["schemas"]["AlarmKind"];
            level: components["schemas"]["AlarmLevel"];
            group: {
                /** Format: int64 */
                id: number;
                app: string | null;
                title: string | null;
            };
            /**
             * @description What its failures have in common: an executor that was not reached or lost runs, a group without executors, a check of the center, or the group alone
             * @enum {string}
             */
            cause: "group" | "executor" | "no_executor" | "center";
            /** @description With the cause `executor`: its address */
            executor: string | null;
            /**
             * @description With the cause `center`: what is not well
             * @enum {string|null}
             */
            check: "horizon" | "database" | "disk" | "clock" | "journal" | "values" | "backup" | null;
            /** @description Why the first one failed, numbers and addresses folded */
            text: string;
            /** Format: date-time */
            sinceAt: string;
            /** Format: int64 */
            sinceMs: number;
            /** Format: date-time */
            lastAt: string;
            /** Format: int64 */
            lastMs: number;
            /** Format: int64 */
            jobs: number;
            /** Format: int64 */
            open: number;
            /** Format: int64 */
            events: number;
            /** Format: int64 */
            messages: number;
            /** Format: date-time */
            toldAt: string | null;
            /** Format: int64 */
            toldMs: number | null;
            /** Format: date-time */
            acknowledgedAt: string | null;
            /** Format: int64 */
            acknowledgedMs: number | null;
            acknowledgedBy: string | null;
            /** Format: date-time */
            closedAt: string | null;
            /** Format: int64 */
            closedMs: number | null;
            /** @description A user closed it; null: its jobs have recovered, what it found is over, or its rule is not there any more */
            closedBy: string | null;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 17,
         *           "rule": {
         *             "id": 3,
         *             "name": "Payments fail"
         *           },
         *           "kind": "failed",
         *           "level": "critical",
         *           "group": {
         *             "id": 4,
         *             "app": "pay-executor",
         *             "title": "Payments"
         *           },
         *           "cause": "executor",
         *           "executor": "http://10.0.3.7:9999/",
         *           "check": null,
         *           "text": "cannot connect to @: Connection refused",
         *           "sinceAt": "2026-11-21T14:32:08.000Z",
         *           "sinceMs": 1795271528000,
         *           "lastAt": "2026-11-21T14:32:08.000Z",
         *           "lastMs": 1795271528000,
         *           "jobs": 400,
         *           "open": 398,
         *           "events": 402,
         *           "messages": 1,
         *           "toldAt": "2026-11-21T14:32:08.000Z",
         *           "toldMs": 1795271528000,
         *           "acknowledgedAt": null,
         *           "acknowledgedMs": null,
         *           "acknowledgedBy": null,
         *           "closedAt": null,
         *           "closedMs": null,
         *           "closedBy": null
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        AlarmList: {
            items: components["schemas"]["Alarm"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "id": 17,
         *       "rule": {
         *         "id": 3,
         *         "name": "Payments fail"
         *       },
         *       "kind": "failed",
         *       "level": "critical",
         *       "group": {
         *         "id": 4,
         *         "app": "pay-executor",
         *         "title": "Payments"
         *       },
         *       "cause": "executor",
         *       "executor": "http://10.0.3.7:9999/",
         *       "check": null,
         *       "text": "cannot connect to @: Connection refused",
         *       "sinceAt": "2026-11-21T14:32:08.000Z",
         *       "sinceMs": 1795271528000,
         *       "lastAt": "2026-11-21T14:32:08.000Z",
         *       "lastMs": 1795271528000,
         *       "jobs": 400,
         *       "open": 398,
         *       "events": 402,
         *       "messages": 1,
         *       "toldAt": "2026-11-21T14:32:08.000Z",
         *       "toldMs": 1795271528000,
         *       "acknowledgedAt": null,
         *       "acknowledgedMs": null,
         *       "acknowledgedBy": null,
         *       "closedAt": null,
         *       "closedMs": null,
         *       "closedBy": null,
         *       "items": [
         *         {
         *           "id": 118,
         *           "name": "Settle card payments",
         *           "runId": 9007341,
         *           "sinceAt": "2026-11-21T14:32:08.000Z",
         *           "sinceMs": 1795271528000,
         *           "events": 1,
         *           "tookMs": 0,
         *           "text": "cannot connect to @: Connection refused",
         *           "recoveredAt": null,
         *           "recoveredMs": null
         *         }
         *       ]
         *     }
         */
        AlarmDetail: {
            /** Format: int64 */
            id: number;
            rule: {
                /** Format: int64 */
                id: number;
                /** @description null: it has been deleted */
                name: string | null;
            };
            kind: components["schemas"]["AlarmKind"];
            level: components["schemas"]["AlarmLevel"];
            group: {
                /** Format: int64 */
                id: number;
                app: string | null;
                title: string | null;
            };
            /**
             * @description What its failures have in common: an executor that was not reached or lost runs, a group without executors, a check of the center, or the group alone
             * @enum {string}
             */
            cause: "group" | "executor" | "no_executor" | "center";
            /** @description With the cause `executor`: its address */
            executor: string | null;
            /**
             * @description With the cause `center`: what is not well
             * @enum {string|null}
             */
            check: "horizon" | "database" | "disk" | "clock" | "journal" | "values" | "backup" | null;
            /** @description Why the first one failed, numbers and addresses folded */
            text: string;
            /** Format: date-time */
            sinceAt: string;
            /** Format: int64 */
            sinceMs: number;
            /** Format: date-time */
            lastAt: string;
            /** Format: int64 */
            lastMs: number;
            /** Format: int64 */
            jobs: number;
            /** Format: int64 */
            open: number;
            /** Format: int64 */
            events: number;
            /** Format: int64 */
            messages: number;
            /** Format: date-time */
            toldAt: string | null;
            /** Format: int64 */
            toldMs: number | null;
            /** Format: date-time */
            acknowledgedAt: string | null;
            /** Format: int64 */
            acknowledgedMs: number | null;
            acknowledgedBy: string | null;
            /** Format: date-time */
            closedAt: string | null;
            /** Format: int64 */
            closedMs: number | null;
            /** @description A user closed it; null: its jobs have recovered, what it found is over, or its rule is not there any more */
            closedBy: string | null;
            items: components["schemas"]["AlarmJob"][];
        };
        /**
         * @description A job of an alarm
         * @example {
         *       "id": 118,
         *       "name": "Settle card payments",
         *       "runId": 9007341,
         *       "sinceAt": "2026-11-21T14:32:08.000Z",
         *       "sinceMs": 1795271528000,
         *       "events": 1,
         *       "tookMs": 0,
         *       "text": "cannot connect to @: Connection refused",
         *       "recoveredAt": null,
         *       "recoveredMs": null
         *     }
         */
        AlarmJob: {
            /** Format: int64 */
            id: number;
            /** @description null: it has been deleted */
            name: string | null;
            /** Format: int64 */
            runId: number | null;
            /** Format: date-time */
            sinceAt: string;
            /** Format: int64 */
            sinceMs: number;
            /** Format: int64 */
            events: number;
            /**
             * Format: int64
             * @description Of `slow`: its longest run
             */
            tookMs: number;
            text: string;
            /** Format: date-time */
            recoveredAt: string | null;
            /** Format: int64 */
            recoveredMs: number | null;
        };
        /**
         * @description `mail` of the API sends by the mail server of the settings
         * @enum {string}
         */
        ChannelKind: "webhook" | "dingtalk" | "wecom" | "feishu" | "slack" | "teams" | "pagerduty" | "alertmanager" | "mail";
        /**
         * @description By kind; those marked * are secret, and are listed in `secrets` once they are set.
         *     `webhook`: url*, secret*, method, headers* (lines `Name: value`), body (a template). `dingtalk`, `feishu`: url*, secret*. `wecom`, `slack`, `teams`: url*. `pagerduty`: routingKey*, url*. `alertmanager`: url*, headers*. `mail`: to (1 to 20 addresses, comma separated).
         * @example {}
         */
        ChannelSettings: {
            [key: string]: string | null;
        };
        /**
         * @example {
         *       "id": 5,
         *       "name": "night shift",
         *       "kind": "dingtalk",
         *       "origin": "api",
         *       "enabled": true,
         *       "perMinute": null,
         *       "held": 0,
         *       "target": "https://oapi.dingtalk.com",
         *       "settings": {},
         *       "secrets": [
         *         "url",
         *         "secret"
         *       ],
         *       "createdAt": "2026-11-21T14:32:08.000Z",
         *       "createdMs": 1795271528000,
         *       "updatedAt": "2026-11-21T14:32:08.000Z",
         *       "updatedMs": 1795271528000,
         *       "version": 1
         *     }
         */
        Channel: {
            /**
             * Format: int64
             * @description null: of the server's settings
             */
            id: number | null;
            name: string;
            kind: components["schemas"]["ChannelKind"];
            /** @enum {string} */
            origin: "api" | "settings";
            enabled: boolean;
            /** @description At most so many messages in a minute; what is more is not sent, the next message says how many. Messages that an alarm is over are always sent; null: no limit */
            perMinute: number | null;
            /**
             * Format: int64
             * @description Messages that the limit kept back since the last one that was sent
             */
            held: number;
            /** @description Scheme and host of where it sends to; of mails the first address, and how many others: a@example.org +2 */
            target: string;
            settings: components["schemas"]["ChannelSettings"];
            /** @description Names of the secret settings that are set */
            secrets: string[];
            /** Format: date-time */
            createdAt: string | null;
            /** Format: int64 */
            createdMs: number | null;
            /** Format: date-time */
            updatedAt: string | null;
            /** Format: int64 */
            updatedMs: number | null;
            /** Format: int64 */
            version: number;
        };
        /**
         * @example {
         *       "name": "night shift",
         *       "kind": "dingtalk",
         *       "settings": {
         *         "url": "https://oapi.dingtalk.com/robot/send?access_token=xxxx",
         *         "secret": "SECxxxx"
         *       }
         *     }
         */
        ChannelNew: {
            /** @description Unique; no comma */
            name: string;
            kind: components["schemas"]["ChannelKind"];
            settings: components["schemas"]["ChannelSettings"];
            enabled?: boolean;
            /** @description At most so many messages in a minute; what is more is not sent, the next message says how many. Messages that an alarm is over are always sent; null: no limit */
            perMinute?: number | null;
        };
        /**
         * @example {
         *       "enabled": false
         *     }
         */
        ChannelPatch: {
            name?: string;
            settings?: components["schemas"]["ChannelSettings"];
            enabled?: boolean;
            /** @description At most so many messages in a minute; what is more is not sent, the next message says how many. Messages that an alarm is over are always sent; null: no limit */
            perMinute?: number | null;
        };
        /**
         * @example {
         *       "outcome": "sent",
         *       "said": "HTTP 200",
         *       "tookMs": 41
         *     }
         */
        ChannelTest: {
            /**
             * @description failed: another try may succeed
             * @enum {string}
             */
            outcome: "sent" | "failed" | "refused";
            /** @description By the other side, or what failed */
            said: string;
            /** Format: int64 */
            tookMs: number;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 5,
         *           "name": "night shift",
         *           "kind": "dingtalk",
         *           "origin": "api",
         *           "enabled": true,
         *           "perMinute": null,
         *           "held": 0,
         *           "target": "https://oapi.dingtalk.com",
         *           "settings": {},
         *           "secrets": [
         *             "url",
         *             "secret"
         *           ],
         *           "createdAt": "2026-11-21T14:32:08.000Z",
         *           "createdMs": 1795271528000,
         *           "updatedAt": "2026-11-21T14:32:08.000Z",
         *           "updatedMs": 1795271528000,
         *           "version": 1
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        ChannelList: {
            items: components["schemas"]["Channel"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "id": 5,
         *       "groupId": 4,
         *       "jobId": null,
         *       "ruleId": null,
         *       "fromAt": "2026-11-21T14:32:08.000Z",
         *       "fromMs": 1795271528000,
         *       "untilAt": "2026-11-21T14:32:08.000Z",
         *       "untilMs": 1795271528000,
         *       "active": true,
         *       "reason": "The executors move",
         *       "by": "admin",
         *       "createdAt": "2026-11-21T14:32:08.000Z",
         *       "createdMs": 1795271528000
         *     }
         */
        Silence: {
            /** Format: int64 */
            id: number;
            /**
             * Format: int64
             * @description null: of all groups
             */
            groupId: number | null;
            /**
             * Format: int64
             * @description Of what is about this job alone; null: of all jobs
             */
            jobId: number | null;
            /**
             * Format: int64
             * @description null: of all rules
             */
            ruleId: number | null;
            /** Format: date-time */
            fromAt: string;
            /** Format: int64 */
            fromMs: number;
            /** Format: date-time */
            untilAt: string;
            /** Format: int64 */
            untilMs: number;
            /** @description It holds now */
            active: boolean;
            reason: string;
            by: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: int64 */
            createdMs: number;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 5,
         *           "groupId": 4,
         *           "jobId": null,
         *           "ruleId": null,
         *           "fromAt": "2026-11-21T14:32:08.000Z",
         *           "fromMs": 1795271528000,
         *           "untilAt": "2026-11-21T14:32:08.000Z",
         *           "untilMs": 1795271528000,
         *           "active": true,
         *           "reason": "The executors move",
         *           "by": "admin",
         *           "createdAt": "2026-11-21T14:32:08.000Z",
         *           "createdMs": 1795271528000
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        SilenceList: {
            items: components["schemas"]["Silence"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "groupId": 4,
         *       "untilMs": 1795271528000,
         *       "reason": "The executors move"
         *     }
         */
        SilenceNew: {
            /**
             * Format: int64
             * @description null: of all groups
             */
            groupId?: number | null;
            /**
             * Format: int64
             * @description Of what is about this job alone; null: of all jobs
             */
            jobId?: number | null;
            /**
             * Format: int64
             * @description null: of all rules
             */
            ruleId?: number | null;
            /**
             * Format: int64
             * @description Absent: now
             */
            fromMs?: number;
            /**
             * Format: int64
             * @description At most 90 days from now
             */
            untilMs: number;
            reason: string;
        };
        /**
         * @description `waiting`: there are targets to be told yet; `sent`: all have taken it; `failed`: it was given up for some; `held`: the limit of the channel kept it back
         * @enum {string}
         */
        DeliveryState: "waiting" | "sent" | "failed" | "held";
        /**
         * @description A message to a channel
         * @example {
         *       "id": 31,
         *       "alarmId": 17,
         *       "runId": null,
         *       "group": {
         *         "id": 4,
         *         "app": "pay-executor",
         *         "title": "Payments"
         *       },
         *       "channel": "night shift",
         *       "message": "opened",
         *       "state": "failed",
         *       "tries": 14,
         *       "said": "errcode 310000: sign not match",
         *       "madeAt": "2026-11-21T14:32:08.000Z",
         *       "madeMs": 1795271528000,
         *       "resentAt": null,
         *       "resentMs": null,
         *       "closedAt": "2026-11-21T14:32:08.000Z",
         *       "closedMs": 1795271528000
         *     }
         */
        Delivery: {
            /** Format: int64 */
            id: number;
            /**
             * Format: int64
             * @description The alarm of a rule that it tells of; null: a failed run
             */
            alarmId: number | null;
            /**
             * Format: int64
             * @description The failed run that it tells of; null: an alarm of a rule
             */
            runId: number | null;
            group: {
                /**
                 * Format: int64
                 * @description 0: it is about the center
                 */
                id: number;
                app: string | null;
                title: string | null;
            };
            channel: string;
            /**
             * @description Which message of the alarm; null: a failed run
             * @enum {string|null}
             */
            message: "opened" | "again" | "closed" | null;
            state: components["schemas"]["DeliveryState"];
            /**
             * Format: int64
             * @description So far
             */
            tries: number;
            /** @description By the other side at the last try, or what failed */
            said: string | null;
            /** Format: date-time */
            madeAt: string;
            /** Format: int64 */
            madeMs: number;
            /** Format: date-time */
            resentAt: string | null;
            /**
             * Format: int64
             * @description When a user had it sent again
             */
            resentMs: number | null;
            /** Format: date-time */
            closedAt: string | null;
            /** Format: int64 */
            closedMs: number | null;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 31,
         *           "alarmId": 17,
         *           "runId": null,
         *           "group": {
         *             "id": 4,
         *             "app": "pay-executor",
         *             "title": "Payments"
         *           },
         *           "channel": "night shift",
         *           "message": "opened",
         *           "state": "failed",
         *           "tries": 14,
         *           "said": "errcode 310000: sign not match",
         *           "madeAt": "2026-11-21T14:32:08.000Z",
         *           "madeMs": 1795271528000,
         *           "resentAt": null,
         *           "resentMs": null,
         *           "closedAt": "2026-11-21T14:32:08.000Z",
         *           "closedMs": 1795271528000
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        DeliveryList: {
            items: components["schemas"]["Delivery"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "id": 31,
         *       "alarmId": 17,
         *       "runId": null,
         *       "group": {
         *         "id": 4,
         *         "app": "pay-executor",
         *         "title": "Payments"
         *       },
         *       "channel": "night shift",
         *       "message": "opened",
         *       "state": "failed",
         *       "tries": 14,
         *       "said": "errcode 310000: sign not match",
         *       "madeAt": "2026-11-21T14:32:08.000Z",
         *       "madeMs": 1795271528000,
         *       "resentAt": null,
         *       "resentMs": null,
         *       "closedAt": "2026-11-21T14:32:08.000Z",
         *       "closedMs": 1795271528000,
         *       "items": [
         *         {
         *           "target": "",
         *           "n": 14,
         *           "sentAt": "2026-11-21T14:32:08.000Z",
         *           "sentMs": 1795271528000,
         *           "tookMs": 41,
         *           "outcome": "given_up",
         *           "said": "errcode 310000: sign not match"
         *         }
         *       ]
         *     }
         */
        DeliveryDetail: {
            /** Format: int64 */
            id: number;
            /**
             * Format: int64
             * @description The alarm of a rule that it tells of; null: a failed run
             */
            alarmId: number | null;
            /**
             * Format: int64
             * @description The failed run that it tells of; null: an alarm of a rule
             */
            runId: number | null;
            group: {
                /**
                 * Format: int64
                 * @description 0: it is about the center
                 */
                id: number;
                app: string | null;
                title: string | null;
            };
            channel: string;
            /**
             * @description Which message of the alarm; null: a failed run
             * @enum {string|null}
             */
            message: "opened" | "again" | "closed" | null;
            state: components["schemas"]["DeliveryState"];
            /**
             * Format: int64
             * @description So far
             */
            tries: number;
            /** @description By the other side at the last try, or what failed */
            said: string | null;
            /** Format: date-time */
            madeAt: string;
            /** Format: int64 */
            madeMs: number;
            /** Format: date-time */
            resentAt: string | null;
            /**
             * Format: int64
             * @description When a user had it sent again
             */
            resentMs: number | null;
            /** Format: date-time */
            closedAt: string | null;
            /** Format: int64 */
            closedMs: number | null;
            items: components["schemas"]["DeliveryTry"][];
        };
        /**
         * @description A try to send a message to one target
         * @example {
         *       "target": "",
         *       "n": 14,
         *       "sentAt": "2026-11-21T14:32:08.000Z",
         *       "sentMs": 1795271528000,
         *       "tookMs": 41,
         *       "outcome": "given_up",
         *       "said": "errcode 310000: sign not match"
         *     }
         */
        DeliveryTry: {
            /** @description The address of a mail; empty where the channel has one target */
            target: string;
            /** @description 1: the first try to this target */
            n: number;
            /** Format: date-time */
            sentAt: string;
            /** Format: int64 */
            sentMs: number;
            /** Format: int64 */
            tookMs: number;
            /**
             * @description `failed`: another try follows
             * @enum {string}
             */
            outcome: "sent" | "failed" | "given_up" | "held";
            /** @description By the other side, or what failed */
            said: string | null;
        };
        /**
         * @example {
         *       "id": 2,
         *       "name": "dev-2",
         *       "center": "none",
         *       "grants": [
         *         {
         *           "role": "developer",
         *           "groups": [
         *             4
         *           ]
         *         },
         *         {
         *           "role": "viewer",
         *           "groups": null
         *         }
         *       ],
         *       "createdAt": null,
         *       "createdMs": null,
         *       "lastLoginAt": "2026-11-21T14:32:08.000Z",
         *       "lastLoginMs": 1795271528000,
         *       "sessions": 1,
         *       "version": 3
         *     }
         */
        User: {
            /** Format: int64 */
            id: number;
            name: string;
            center: components["schemas"]["Center"];
            grants: components["schemas"]["Grant"][];
            /**
             * Format: date-time
             * @description Made, RFC 3339 in UTC with milliseconds
             */
            createdAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            createdMs?: number | null;
            /**
             * Format: date-time
             * @description Last login, RFC 3339 in UTC with milliseconds
             */
            lastLoginAt?: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            lastLoginMs?: number | null;
            sessions?: number;
            version: number;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 2,
         *           "name": "dev-2",
         *           "center": "none",
         *           "grants": [
         *             {
         *               "role": "developer",
         *               "groups": [
         *                 4
         *               ]
         *             },
         *             {
         *               "role": "viewer",
         *               "groups": null
         *             }
         *           ],
         *           "createdAt": null,
         *           "createdMs": null,
         *           "lastLoginAt": "2026-11-21T14:32:08.000Z",
         *           "lastLoginMs": 1795271528000,
         *           "sessions": 1,
         *           "version": 3
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 1,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        UserList: {
            items: components["schemas"]["User"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "name": "dev-2",
         *       "password": "a first password",
         *       "center": "none",
         *       "grants": [
         *         {
         *           "role": "developer",
         *           "groups": [
         *             4
         *           ]
         *         }
         *       ]
         *     }
         */
        UserNew: {
            name: string;
            /** Format: password */
            password: string;
            /** @description Absent: `none` */
            center?: components["schemas"]["Center"];
            /** @description Absent: none */
            grants?: components["schemas"]["Grant"][];
        };
        /**
         * @example {
         *       "grants": [
         *         {
         *           "role": "operator",
         *           "groups": [
         *             4
         *           ]
         *         }
         *       ]
         *     }
         */
        UserPatch: {
            /** Format: password */
            password?: string;
            center?: components["schemas"]["Center"];
            /** @description Replaces all of them */
            grants?: components["schemas"]["Grant"][];
        };
        /**
         * @example {
         *       "group": "ops-agent",
         *       "name": "Nightly backup"
         *     }
         */
        ExportName: {
            group: string;
            name: string;
        };
        /** @description As `Export`, but that members which may stay, or have a default, may be left out */
        Import: {
            /**
             * @description Number of the format
             * @constant
             */
            peal: 1;
            groups?: {
                app: string;
                title: string;
                /** @enum {string} */
                addressing?: "registry" | "manual";
                /** @description Of `manual` only */
                addresses?: string[];
            }[];
            jobs?: {
                group: string;
                name: string;
                owner?: string;
                /** @enum {string} */
                state?: "scheduled" | "stopped";
                /** @description As of a job; a new job needs it */
                schedule?: Record<string, never>;
                /** @description As of a job; a new job needs it */
                task?: Record<string, never>;
                /** @description As of a job */
                running?: Record<string, never>;
                children?: components["schemas"]["ExportName"][];
                alarmEmails?: string[];
                /** @description The newest version; null says nothing of it */
                script?: string | null;
            }[];
            users?: {
                /** @description Of a user that is made: 4 to 20 of a-z, 0-9, ., _ and -, a letter first */
                name: string;
                center?: components["schemas"]["Center"];
                grants?: {
                    /** @enum {string} */
                    role: "viewer" | "operator" | "editor" | "developer";
                    /** @description App names; null: all */
                    groups: string[] | null;
                }[];
                /** @description Of a user that is made; at most 100 users of an import have one */
                password?: string;
            }[];
            channels?: {
                name: string;
                kind: string;
                enabled?: boolean;
                /** @description As of a channel; what it does not have stays */
                settings?: Record<string, never>;
                /** @description Names of secrets that it has: a channel that is made needs them in `settings` */
                secrets?: string[];
                perMinute?: number | null;
            }[];
            rules?: {
                name: string;
                /** @enum {string} */
                kind: "failed" | "recovered" | "slow" | "stopped" | "late" | "empty" | "gone" | "center";
                /** @enum {string} */
                level?: "info" | "warning" | "critical";
                /** @description App name */
                group?: string | null;
                job?: components["schemas"]["ExportName"] | null;
                inARow?: number | null;
                longerMs?: number | null;
                channels: string[];
                /** @description As of a rule */
                quiet?: Record<string, never> | null;
                repeatMs?: number | null;
                enabled?: boolean;
            }[];
            /** @description Left as they are */
            silences?: Record<string, never>[];
        };
        ImportResult: {
            dryRun: boolean;
            /** @description Groups and jobs in the order of the file, then those that go, then channels, rules and users */
            steps: {
                /** @enum {string} */
                kind: "group" | "job" | "channel" | "rule" | "user";
                /** @enum {string} */
                action: "make" | "change" | "delete";
                /** @description App name; null: of a channel or a user, and of a rule that stays where it is or is of all */
                group: string | null;
                /** @description null: of a group */
                name: string | null;
                /** @description Its JSON pointer into the file; null: the file does not have it */
                path: string | null;
                /** @description Of what changes: JSON pointers of its members */
                changes: string[];
                /** @description The job is scheduled afterwards */
                scheduled: boolean;
                /** @description null: none changes */
                firings: components["schemas"]["FiringChanges"] | null;
            }[];
            /** @description Things that are as the file has them */
            same: number;
            /** @description What else the file has */
            left: {
                silences: number;
            };
        };
        /**
         * @example {
         *       "peal": 1,
         *       "groups": [
         *         {
         *           "app": "ops-agent",
         *           "title": "Operations",
         *           "addressing": "registry"
         *         }
         *       ]
         *     }
         */
        Export: {
            /**
             * @description Number of the format
             * @constant
             */
            peal: 1;
            groups?: {
                app: string;
                title: string;
                /** @enum {string} */
                addressing: "registry" | "manual";
                /** @description Of `manual` only */
                addresses?: string[];
            }[];
            jobs?: {
                group: string;
                name: string;
                owner: string;
                /** @enum {string} */
                state: "scheduled" | "stopped";
                schedule: components["schemas"]["Schedule"];
                task: components["schemas"]["Task"];
                running: components["schemas"]["Running"];
                children: components["schemas"]["ExportName"][];
                alarmEmails: string[];
                /** @description The newest version */
                script?: string;
            }[];
            users?: {
                name: string;
                center: components["schemas"]["Center"];
                grants: {
                    role: string;
                    /** @description App names; null: all */
                    groups: string[] | null;
                }[];
            }[];
            channels?: {
                name: string;
                kind: components["schemas"]["ChannelKind"];
                enabled: boolean;
                settings: components["schemas"]["ChannelSettings"];
                /** @description Names of the secret settings that are set */
                secrets: string[];
                /** @description At most so many messages; null: no limit */
                perMinute: number | null;
            }[];
            rules?: {
                name: string;
                kind: components["schemas"]["AlarmKind"];
                level: components["schemas"]["AlarmLevel"];
                /** @description Of this group; null: of all, or of the job */
                group: string | null;
                job: components["schemas"]["ExportName"] | null;
                inARow: number | null;
                /** Format: int64 */
                longerMs: number | null;
                channels: string[];
                quiet: components["schemas"]["AlarmQuiet"] | null;
                /** Format: int64 */
                repeatMs: number | null;
                enabled: boolean;
            }[];
            silences?: {
                /** @description Of this group; null: of all, or of the job */
                group: string | null;
                job: components["schemas"]["ExportName"] | null;
                /** @description Name of a rule; null: of all */
                rule: string | null;
                /** Format: int64 */
                fromMs: number;
                /** Format: int64 */
                untilMs: number;
                reason: string;
            }[];
        };
        Node: {
            /**
             * Format: int64
             * @description Number of the name in this database
             */
            id: number;
            /** @description Setting `node.name`, or the host's */
            name: string;
            /**
             * Format: int64
             * @description Number of its last life
             */
            epoch: number;
            /**
             * @description `draining`: it plans nothing any more, because it stops or was asked to drain; `stopped`: it said so; `dead`: it did not, and another server took the database over
             * @enum {string}
             */
            state: "up" | "draining" | "stopped" | "dead";
            /** @description It was asked to drain, and does so while another server plans */
            drainAsked: boolean;
            /** @description The server that answers */
            self: boolean;
            /** @description It listens there: setting `listen` */
            address: string | null;
            /** @description Of its program */
            version: string | null;
            /** @description Number of the rules by which its release shares a database; it grows where an older release has to be told apart */
            protocol: number;
            /** @description Open runs in its memory, at its last beat */
            runs: number | null;
            /** @description Jobs with a next scheduled time that it plans, as it counted them half a minute ago at most; null: it is over, has the database alone, or has not counted yet. One that finds none says so half a minute after its start, because the others may still be moving jobs to it */
            jobs: number | null;
            /**
             * Format: date-time
             * @description Its last beat, by its own clock, RFC 3339 in UTC with milliseconds; null if it has none, as where the database is a file
             */
            beatAt: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            beatMs: number | null;
            /**
             * Format: int64
             * @description How long ago that was, by the clock of the database, with which each server compares its own
             */
            beatAgeMs: number | null;
            /** @description It may send runs, as far as is known: it lives, and its last beat is not older than 2 s */
            leased: boolean;
            /**
             * Format: int64
             * @description The database's clock minus its machine's
             */
            skewMs: number | null;
            /**
             * Format: date-time
             * @description That life began, RFC 3339 in UTC with milliseconds; null where an earlier release did not write it down
             */
            startedAt: string | null;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            startedMs: number | null;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "id": 1,
         *           "name": "db-host-1",
         *           "epoch": 42,
         *           "state": "up",
         *           "drainAsked": false,
         *           "self": true,
         *           "address": "10.0.3.4:8080",
         *           "version": "1.0.0",
         *           "protocol": 1,
         *           "runs": 812,
         *           "jobs": 20331,
         *           "beatAt": "2026-11-21T14:32:08.000Z",
         *           "beatMs": 1795271528000,
         *           "beatAgeMs": 412,
         *           "leased": true,
         *           "skewMs": -3,
         *           "startedAt": "2026-11-19T06:00:00.000Z",
         *           "startedMs": 1795068000000
         *         },
         *         {
         *           "id": 2,
         *           "name": "db-host-2",
         *           "epoch": 41,
         *           "state": "dead",
         *           "drainAsked": false,
         *           "self": false,
         *           "address": "10.0.3.5:8080",
         *           "version": "1.0.0",
         *           "protocol": 1,
         *           "runs": 807,
         *           "jobs": null,
         *           "beatAt": "2026-11-19T05:59:41.000Z",
         *           "beatMs": 1795067981000,
         *           "beatAgeMs": 203547412,
         *           "leased": false,
         *           "skewMs": 1,
         *           "startedAt": "2026-11-17T21:04:30.000Z",
         *           "startedMs": 1794949470000
         *         }
         *       ],
         *       "page": {
         *         "next": null,
         *         "total": {
         *           "value": 2,
         *           "exact": true
         *         }
         *       }
         *     }
         */
        NodeList: {
            items: components["schemas"]["Node"][];
            page: components["schemas"]["Page"];
        };
        /**
         * @example {
         *       "version": "1.0.0",
         *       "revision": "1de3bb0",
         *       "startedAt": "2026-11-21T14:32:08.000Z",
         *       "startedMs": 1795271528000,
         *       "ready": true,
         *       "checks": [
         *         {
         *           "name": "commit",
         *           "ok": true,
         *           "detail": null
         *         }
         *       ],
         *       "database": {
         *         "kind": "sqlite",
         *         "bytes": 73400320,
         *         "walBytes": 4194304,
         *         "logRows": 812311,
         *         "oldestLogMs": 1792679528000
         *       },
         *       "limits": {
         *         "viewers": 2000,
         *         "viewersNow": 14
         *       },
         *       "zone": "Europe/Berlin",
         *       "warnings": [
         *         "the port is open to other machines without TLS"
         *       ]
         *     }
         */
        System: {
            version: string;
            revision?: string;
            /**
             * Format: date-time
             * @description This process began, RFC 3339 in UTC with milliseconds
             */
            startedAt: string;
            /**
             * Format: int64
             * @description The same instant in milliseconds since 1970
             */
            startedMs: number;
            ready: boolean;
            checks: {
                name: string;
                ok: boolean;
                /** @description Why not, for users with `system:admin` */
                detail?: string | null;
            }[];
            database: {
                /** @enum {string} */
                kind: "sqlite" | "mysql" | "postgresql";
                /** Format: int64 */
                bytes: number;
                /**
                 * Format: int64
                 * @description What is written ahead of the file; only where the database is one
                 */
                walBytes?: number;
                /** Format: int64 */
                logRows?: number;
                /** Format: int64 */
                oldestLogMs?: number | null;
            };
            limits: {
                viewers: number;
                viewersNow: number;
            };
            zone?: string;
            /** @description Insecure or unusual settings; for users with `system:admin` */
            warnings?: string[];
        };
        /**
         * @example {
         *       "key": "misfire.threshold",
         *       "value": "5 s",
         *       "origin": "default",
         *       "secret": false,
         *       "help": "a scheduled time older than this when it is planned is a misfire"
         *     }
         */
        Setting: {
            key: string;
            /** @description null: a secret */
            value: string | null;
            /** @description command line, environment, file:line, or default */
            origin: string;
            secret?: boolean;
            help?: string;
        };
        /**
         * @example {
         *       "items": [
         *         {
         *           "key": "misfire.threshold",
         *           "value": "5 s",
         *           "origin": "default",
         *           "secret": false,
         *           "help": "a scheduled time older than this when it is planned is a misfire"
         *         }
         *       ]
         *     }
         */
        SettingList: {
            items: components["schemas"]["Setting"][];
        };
        /** @description Data of `event: run` */
        EventRun: {
            /** Format: int64 */
            id: number;
            /** Format: int64 */
            jobId: number;
            /** Format: int64 */
            groupId?: number;
            /** @enum {string} */
            phase: "planned" | "sent" | "unknown" | "accepted" | "lost" | "succeeded" | "failed" | "timed_out" | "killed" | "rejected" | "unroutable";
            outcome: components["schemas"]["Outcome"];
            /** Format: int64 */
            scheduledMs?: number;
            /** Format: int64 */
            endedMs?: number | null;
            tookMs?: number | null;
        };
        /** @description Data of `event: runs`: in place of single events when over 50 runs change within 250 ms */
        EventRuns: {
            /** Format: int64 */
            fromMs: number;
            /** @description By outcome */
            counts: {
                [key: string]: number;
            };
            /** @description At most 200; longer: empty, read again */
            jobs?: number[];
        };
        /** @description Data of `event: executor`: it has come or gone, or has another state or other groups. Told to those who see one of its groups, or of those that it had */
        EventExecutor: {
            key: string;
            address: string;
            /** @enum {string} */
            state: "up" | "refusing" | "silent" | "draining" | "gone";
        };
        /** @description Data of `event: job` */
        EventJob: {
            /** Format: int64 */
            id: number;
            /** @enum {string} */
            change: "created" | "updated" | "started" | "stopped" | "deleted";
            version: number;
            actor?: string | null;
        };
        /** @description Data of `event: alarm`: an alarm of a rule was opened or has changed, at whichever server of the database; looked at once a second, the oldest 500 that are open */
        EventAlarm: {
            /** Format: int64 */
            id: number;
            /**
             * Format: int64
             * @description null: of the center, for those who see all groups
             */
            groupId: number | null;
            /** @enum {string} */
            state: "open" | "acknowledged" | "closed";
        };
        /** @description Data of `event: vitals`, every 2 s */
        EventVitals: {
            ok: boolean;
            inFlight: number;
            waiting: number;
            unknown?: number;
            latenessP99Ms?: number | null;
            horizonMs?: number;
            /** Format: int64 */
            nowMs?: number;
        };
        /** @description Data of `event: lines` */
        EventLog: {
            fromLine: number;
            lines: string[];
        };
        /** @description Never sent as such: data of the events of both streams, by name of the event, so that types can be generated */
        Events: {
            run?: components["schemas"]["EventRun"];
            runs?: components["schemas"]["EventRuns"];
            executor?: components["schemas"]["EventExecutor"];
            job?: components["schemas"]["EventJob"];
            alarm?: components["schemas"]["EventAlarm"];
            vitals?: components["schemas"]["EventVitals"];
            lines?: components["schemas"]["EventLog"];
        };
    };
    responses: {
        /** @description The request cannot be read */
        Malformed: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/malformed",
                 *       "title": "The request cannot be read",
                 *       "status": 400,
                 *       "code": "malformed",
                 *       "detail": "limit: a number from 1 to 500",
                 *       "requestId": "01HF3K7QZ8",
                 *       "errors": [
                 *         {
                 *           "field": "limit",
                 *           "rule": "number.range",
                 *           "detail": "limit: a number from 1 to 500"
                 *         }
                 *       ]
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not logged in */
        Unauthenticated: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                /** @example Bearer realm="peal" */
                "WWW-Authenticate"?: string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/unauthenticated",
                 *       "title": "Not logged in",
                 *       "status": 401,
                 *       "code": "unauthenticated",
                 *       "detail": "no session cookie and no bearer token",
                 *       "requestId": "01HF3K7QZ8"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not permitted */
        Forbidden: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/forbidden",
                 *       "title": "Not permitted",
                 *       "status": 403,
                 *       "code": "forbidden",
                 *       "detail": "needs the permission jobs:write on the group pay-executor",
                 *       "requestId": "01HF3K7QZ8"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such thing */
        NotFound: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/not-found",
                 *       "title": "There is no such thing",
                 *       "status": 404,
                 *       "code": "not_found",
                 *       "detail": "job 4711 does not exist, or you may not see it",
                 *       "requestId": "01HF3K7QZ8"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description This does not fit the state of the thing */
        Conflict: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/conflict",
                 *       "title": "This does not fit the state of the thing",
                 *       "status": 409,
                 *       "code": "conflict",
                 *       "detail": "the group still has 38 jobs",
                 *       "requestId": "01HF3K7QZ8"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It was changed meanwhile */
        Changed: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/changed-meanwhile",
                 *       "title": "It was changed meanwhile",
                 *       "status": 412,
                 *       "code": "changed_meanwhile",
                 *       "detail": "the job is at version 18, the edit was made on 17",
                 *       "requestId": "01HF3K7QZ8"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is too large */
        TooLarge: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/too-large",
                 *       "title": "The body is too large",
                 *       "status": 413,
                 *       "code": "too_large",
                 *       "detail": "at most 2 MiB",
                 *       "requestId": "01HF3K7QZ8"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not this type of body */
        MediaType: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/unsupported-media-type",
                 *       "title": "Not this type of body",
                 *       "status": 415,
                 *       "code": "unsupported_media_type",
                 *       "detail": "application/json is wanted",
                 *       "requestId": "01HF3K7QZ8"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request breaks a rule */
        Invalid: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/invalid",
                 *       "title": "The request breaks a rule",
                 *       "status": 422,
                 *       "code": "invalid",
                 *       "detail": "hour is 0 to 23, this says 25",
                 *       "requestId": "01HF3K7QZ8",
                 *       "errors": [
                 *         {
                 *           "field": "/schedule/conf",
                 *           "rule": "cron.hour.range",
                 *           "detail": "hour is 0 to 23, this says 25"
                 *         }
                 *       ]
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description If-Match is required */
        IfMatchRequired: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/if-match-required",
                 *       "title": "If-Match is required",
                 *       "status": 428,
                 *       "code": "if_match_required",
                 *       "detail": "send the ETag that you read, or * to overwrite what is there",
                 *       "requestId": "01HF3K7QZ8"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many requests */
        TooMany: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                /** @description Seconds */
                "Retry-After"?: number;
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/too-many-requests",
                 *       "title": "Too many requests",
                 *       "status": 429,
                 *       "code": "too_many_requests",
                 *       "detail": "600 requests a minute for this token",
                 *       "requestId": "01HF3K7QZ8"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Not now */
        Unavailable: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                /** @description Seconds */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/unavailable",
                 *       "title": "Not now",
                 *       "status": 503,
                 *       "code": "unavailable",
                 *       "detail": "the database does not take writes: nothing was changed",
                 *       "requestId": "01HF3K7QZ8"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description No answer in time */
        TimedOut: {
            headers: {
                "Peal-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "type": "/problems/timeout",
                 *       "title": "No answer in time",
                 *       "status": 504,
                 *       "code": "timeout",
                 *       "detail": "the executor 10.0.3.7:9999 did not answer within 5 s",
                 *       "requestId": "01HF3K7QZ8"
                 *     }
                 */
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description Rows of a page */
        Limit: number;
        /** @description Where the page before said `next` */
        Cursor: string;
        /** @description Only these members of each item, separated by commas, such as `id,name,nextMs`; `id` always comes */
        Fields: string;
        /**
         * @description Id
         * @example 42
         */
        Id: number;
        /**
         * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
         * @example "j42-17"
         */
        IfMatch: string;
        /**
         * @description The ETag that one has: 304 if it still holds
         * @example "j42-17"
         */
        IfNoneMatch: string;
        /** @description true: look at all rules, and change nothing */
        DryRun: boolean;
        /**
         * @description W3C Trace Context. The run that this asks for, its retries and its children's runs belong to that trace. What cannot be read is ignored
         * @example 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
         */
        Traceparent: string;
        /**
         * @description The same key from the same user within 24 h gives the first answer again and does nothing; with another body 422
         * @example deploy-2026-11-21-0001
         */
        IdempotencyKey: string;
        /** @description Words in names, handlers, owners, or an id */
        Q: string;
        /**
         * @description Ids or app names of groups, separated by commas
         * @example ops-agent
         */
        GroupFilter: string;
        /** @description Instant: RFC 3339 or epoch ms; included */
        From: string;
        /** @description Instant: RFC 3339 or epoch ms; not included */
        To: string;
        /**
         * @description Key of an executor
         * @example aHR0cDovLzEwLjAuMy43Ojk5OTkv
         */
        ExecutorKey: string;
        /** @description Sent by browsers when they come back */
        LastEventId: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description Also in the log of the center
         * @example 01HF3K7QZ8
         */
        RequestId: string;
        /**
         * @description Version of what was read; behind a dot what the answer shows, where that changes more often
         * @example "j42-17"
         */
        ETag: string;
        /** @description Where the new thing is */
        Location: string;
        /**
         * @description Quota and window in seconds
         * @example "token";q=600;w=60
         */
        RateLimitPolicy: string;
        /**
         * @description What is left and when it is full again
         * @example "token";r=599;t=60
         */
        RateLimit: string;
        /** @description rel="next" */
        Link: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The asker */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": {
                     *         "id": 1,
                     *         "name": "ops-1"
                     *       },
                     *       "center": "admin",
                     *       "grants": [],
                     *       "rights": [
                     *         {
                     *           "permissions": [
                     *             "read",
                     *             "run",
                     *             "jobs:write",
                     *             "scripts:write",
                     *             "audit:read",
                     *             "executors:write",
                     *             "users:admin",
                     *             "system:admin"
                     *           ],
                     *           "groups": null
                     *         }
                     *       ],
                     *       "preferences": {
                     *         "language": "en",
                     *         "zone": "Europe/Berlin",
                     *         "theme": "system",
                     *         "shortcuts": true
                     *       },
                     *       "session": {
                     *         "kind": "cookie",
                     *         "expiresAt": "2026-11-28T14:32:08.000Z",
                     *         "expiresMs": 1795876328000
                     *       },
                     *       "mustChangePassword": false
                     *     }
                     */
                    "application/json": components["schemas"]["Me"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "admin",
                 *       "password": "a password",
                 *       "remember": false
                 *     }
                 */
                "application/json": components["schemas"]["Login"];
            };
        };
        responses: {
            /** @description Logged in. Sets the cookie `peal_session` (HttpOnly, SameSite=Strict, Secure behind TLS) */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "user": {
                     *         "id": 1,
                     *         "name": "ops-1"
                     *       },
                     *       "center": "admin",
                     *       "grants": [],
                     *       "rights": [
                     *         {
                     *           "permissions": [
                     *             "read",
                     *             "run",
                     *             "jobs:write",
                     *             "scripts:write",
                     *             "audit:read",
                     *             "executors:write",
                     *             "users:admin",
                     *             "system:admin"
                     *           ],
                     *           "groups": null
                     *         }
                     *       ],
                     *       "preferences": {
                     *         "language": "en",
                     *         "zone": "Europe/Berlin",
                     *         "theme": "system",
                     *         "shortcuts": true
                     *       },
                     *       "session": {
                     *         "kind": "cookie",
                     *         "expiresAt": "2026-11-28T14:32:08.000Z",
                     *         "expiresMs": 1795876328000
                     *       },
                     *       "mustChangePassword": false
                     *     }
                     */
                    "application/json": components["schemas"]["Me"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listMySessions: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sessions */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "c1f2",
                     *           "current": true,
                     *           "address": "10.1.2.3",
                     *           "createdAt": "2026-11-21T14:32:08.000Z",
                     *           "createdMs": 1795271528000,
                     *           "expiresAt": "2026-11-28T14:32:08.000Z",
                     *           "expiresMs": 1795876328000
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    endMySession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its id
                 * @example c1f2
                 */
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ended */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    setPreferences: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/merge-patch+json": components["schemas"]["PreferencesPatch"];
            };
        };
        responses: {
            /** @description As they are now */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "language": "en",
                     *       "zone": "Europe/Berlin",
                     *       "theme": "system",
                     *       "shortcuts": true
                     *     }
                     */
                    "application/json": components["schemas"]["Preferences"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "old": "the old one",
                 *       "new": "a longer new one"
                 *     }
                 */
                "application/json": components["schemas"]["PasswordChange"];
            };
        };
        responses: {
            /** @description Changed; my other sessions have ended */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tokens, without secrets */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 7,
                     *           "name": "deploy",
                     *           "prefix": "pat_x7Qa",
                     *           "permissions": [
                     *             "read",
                     *             "run"
                     *           ],
                     *           "groups": [
                     *             3
                     *           ],
                     *           "createdAt": "2026-11-21T14:32:08.000Z",
                     *           "createdMs": 1795271528000,
                     *           "expiresAt": "2027-02-19T14:32:08.000Z",
                     *           "expiresMs": 1803047528000,
                     *           "lastUsedAt": null,
                     *           "lastUsedMs": null
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TokenList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "deploy",
                 *       "permissions": [
                 *         "read",
                 *         "run"
                 *       ],
                 *       "groups": [
                 *         3
                 *       ],
                 *       "days": 90
                 *     }
                 */
                "application/json": components["schemas"]["TokenNew"];
            };
        };
        responses: {
            /** @description Made; the secret is in this answer only */
            201: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "token": {
                     *         "id": 7,
                     *         "name": "deploy",
                     *         "prefix": "pat_x7Qa",
                     *         "permissions": [
                     *           "read",
                     *           "run"
                     *         ],
                     *         "groups": [
                     *           3
                     *         ],
                     *         "createdAt": "2026-11-21T14:32:08.000Z",
                     *         "createdMs": 1795271528000,
                     *         "expiresAt": "2027-02-19T14:32:08.000Z",
                     *         "expiresMs": 1803047528000,
                     *         "lastUsedAt": null,
                     *         "lastUsedMs": null
                     *       },
                     *       "secret": "pat_x7Qa…"
                     *     }
                     */
                    "application/json": components["schemas"]["TokenMade"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDashboard: {
        parameters: {
            query?: {
                /**
                 * @description Ids or app names of groups, separated by commas
                 * @example ops-agent
                 */
                group?: components["parameters"]["GroupFilter"];
                /** @description Of the bars */
                range?: "1h" | "24h" | "7d";
            };
            header?: {
                /**
                 * @description The ETag that one has: 304 if it still holds
                 * @example "j42-17"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The first screen */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "nowAt": "2026-11-21T14:32:08.000Z",
                     *       "nowMs": 1795271528000,
                     *       "now": {
                     *         "zone": "Europe/Berlin"
                     *       },
                     *       "scheduler": {
                     *         "ok": true,
                     *         "reason": null,
                     *         "unaccounted": 0,
                     *         "planned": 4182077,
                     *         "latenessP99Ms": 3.1,
                     *         "horizonMs": 4600,
                     *         "commitP99Ms": 2.4,
                     *         "inFlight": 212,
                     *         "unknown": 3,
                     *         "waiting": 38,
                     *         "open": 1021
                     *       },
                     *       "broken": [
                     *         {
                     *           "cause": {
                     *             "code": "PE-2003",
                     *             "text": "Connection refused"
                     *           },
                     *           "where": "10.0.3.7:9999",
                     *           "group": {
                     *             "id": 4,
                     *             "app": "pay-executor",
                     *             "title": "Payments"
                     *           },
                     *           "sinceAt": "2026-11-21T14:32:08.000Z",
                     *           "sinceMs": 1795271528000,
                     *           "count": 3,
                     *           "jobs": [
                     *             {
                     *               "id": 118,
                     *               "name": "Settle card payments",
                     *               "owner": "dev-2",
                     *               "streak": 6,
                     *               "lastRunId": 9007341,
                     *               "lastSuccessAt": "2026-11-21T14:32:08.000Z",
                     *               "lastSuccessMs": 1795271528000,
                     *               "recent": []
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "brokenTotal": 7,
                     *       "attention": {
                     *         "late": 11,
                     *         "stuck": 2,
                     *         "unknown": 3,
                     *         "unroutable": 4
                     *       },
                     *       "notKnown": [],
                     *       "executors": {
                     *         "groups": 42,
                     *         "addresses": 317,
                     *         "bad": [
                     *           {
                     *             "id": 3,
                     *             "app": "ops-agent",
                     *             "title": "Operations",
                     *             "addressing": "registry",
                     *             "addresses": [],
                     *             "up": 2,
                     *             "total": 2,
                     *             "jobs": 14,
                     *             "failing": 1,
                     *             "updatedAt": "2026-11-21T14:32:08.000Z",
                     *             "updatedMs": 1795271528000,
                     *             "version": 4
                     *           }
                     *         ]
                     *       },
                     *       "day": {
                     *         "stepMs": 900000,
                     *         "fromMs": 1795185128000,
                     *         "succeeded": [
                     *           612
                     *         ],
                     *         "failed": [
                     *           3
                     *         ],
                     *         "previous": [
                     *           598
                     *         ]
                     *       },
                     *       "next": [
                     *         {
                     *           "atMs": 1795271530000,
                     *           "job": {
                     *             "id": 7,
                     *             "name": "Heartbeat"
                     *           },
                     *           "app": "gateway",
                     *           "shards": 1
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Dashboard"];
                };
            };
            /** @description Nothing has changed */
            304: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getForecast: {
        parameters: {
            query?: {
                /**
                 * @description Ids or app names of groups, separated by commas
                 * @example ops-agent
                 */
                group?: components["parameters"]["GroupFilter"];
                /** @description How far ahead */
                minutes?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The forecast */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "fromMs": 1795271528000,
                     *       "stepMs": 60000,
                     *       "counts": [
                     *         42,
                     *         38,
                     *         253
                     *       ],
                     *       "peaks": [
                     *         {
                     *           "atMs": 1795273200000,
                     *           "count": 253,
                     *           "jobs": [
                     *             {
                     *               "id": 97,
                     *               "name": "FX rates import"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "computedAt": "2026-11-21T14:32:08.000Z",
                     *       "computedMs": 1795271528000,
                     *       "partial": false
                     *     }
                     */
                    "application/json": components["schemas"]["Forecast"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listJobs: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
                /** @description Only these members of each item, separated by commas, such as `id,name,nextMs`; `id` always comes */
                fields?: components["parameters"]["Fields"];
                /** @description Words in names, handlers, owners, or an id */
                q?: components["parameters"]["Q"];
                /**
                 * @description Ids or app names of groups, separated by commas
                 * @example ops-agent
                 */
                group?: components["parameters"]["GroupFilter"];
                /** @description State */
                state?: "scheduled" | "stopped";
                /** @description Of the last run */
                result?: "failing" | "ok" | "never";
                /** @description Type of schedule */
                type?: components["schemas"]["ScheduleType"];
                /** @description Substring */
                handler?: string;
                /** @description Exactly */
                owner?: string;
                /** @description Only jobs that start this one when they have succeeded */
                child?: number;
                /** @description Order. `next` and `last` go by the next and the last scheduled time, the earliest first, `-last` by the newest first; jobs that have none come last. A job that fires every few seconds may stand as many seconds off its place. `streak`: the longest streak of failures first. */
                sort?: "id" | "-id" | "name" | "next" | "last" | "-last" | "streak";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of jobs */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 42,
                     *           "name": "Nightly ledger backup",
                     *           "group": {
                     *             "id": 3,
                     *             "app": "ops-agent",
                     *             "title": "Operations"
                     *           },
                     *           "owner": "ops-1",
                     *           "state": "scheduled",
                     *           "stopReason": null,
                     *           "schedule": {
                     *             "type": "CRON",
                     *             "conf": "0 30 2 ? * SUN-FRI",
                     *             "zone": "Europe/Berlin",
                     *             "dst": "smart",
                     *             "misfire": "DO_NOTHING",
                     *             "misfireMax": 100
                     *           },
                     *           "task": {
                     *             "kind": "GLUE_SHELL",
                     *             "handler": "",
                     *             "param": "--full"
                     *           },
                     *           "running": {
                     *             "route": "ROUND",
                     *             "block": "SERIAL_EXECUTION",
                     *             "timeoutS": 0,
                     *             "retries": 2,
                     *             "retryDelayMs": 5000,
                     *             "retryBackoff": 1,
                     *             "startDeadlineMs": 60000,
                     *             "onUnknown": "wait"
                     *           },
                     *           "children": [],
                     *           "alarmEmails": [],
                     *           "nextAt": "2026-11-22T01:30:00.000Z",
                     *           "nextMs": 1795311000000,
                     *           "lastAt": "2026-11-21T01:30:00.000Z",
                     *           "lastMs": 1795224600000,
                     *           "recent": [
                     *             {
                     *               "runId": 9006120,
                     *               "outcome": "failed",
                     *               "tookMs": 41185
                     *             }
                     *           ],
                     *           "streak": {
                     *             "outcome": "failed",
                     *             "count": 1,
                     *             "sinceAt": "2026-11-21T01:30:00.000Z",
                     *             "sinceMs": 1795224600000
                     *           },
                     *           "scriptVersion": 12,
                     *           "createdAt": "2026-11-21T14:32:08.000Z",
                     *           "createdMs": 1795271528000,
                     *           "updatedAt": "2026-11-21T14:32:08.000Z",
                     *           "updatedMs": 1795271528000,
                     *           "version": 17
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["JobList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    createJob: {
        parameters: {
            query?: {
                /** @description true: look at all rules, and change nothing */
                dryRun?: components["parameters"]["DryRun"];
            };
            header?: {
                /**
                 * @description The same key from the same user within 24 h gives the first answer again and does nothing; with another body 422
                 * @example deploy-2026-11-21-0001
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Nightly ledger backup",
                 *       "groupId": 3,
                 *       "owner": "ops-1",
                 *       "schedule": {
                 *         "type": "CRON",
                 *         "conf": "0 30 2 ? * SUN-FRI",
                 *         "zone": "Europe/Berlin",
                 *         "dst": "smart",
                 *         "misfire": "DO_NOTHING",
                 *         "misfireMax": 100
                 *       },
                 *       "task": {
                 *         "kind": "BEAN",
                 *         "handler": "backupHandler",
                 *         "param": "--full"
                 *       },
                 *       "running": {
                 *         "route": "ROUND",
                 *         "block": "SERIAL_EXECUTION"
                 *       },
                 *       "start": true
                 *     }
                 */
                "application/json": components["schemas"]["JobNew"];
            };
        };
        responses: {
            /** @description Made */
            201: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 42,
                     *       "name": "Nightly ledger backup",
                     *       "group": {
                     *         "id": 3,
                     *         "app": "ops-agent",
                     *         "title": "Operations"
                     *       },
                     *       "owner": "ops-1",
                     *       "state": "scheduled",
                     *       "stopReason": null,
                     *       "schedule": {
                     *         "type": "CRON",
                     *         "conf": "0 30 2 ? * SUN-FRI",
                     *         "zone": "Europe/Berlin",
                     *         "dst": "smart",
                     *         "misfire": "DO_NOTHING",
                     *         "misfireMax": 100
                     *       },
                     *       "task": {
                     *         "kind": "GLUE_SHELL",
                     *         "handler": "",
                     *         "param": "--full"
                     *       },
                     *       "running": {
                     *         "route": "ROUND",
                     *         "block": "SERIAL_EXECUTION",
                     *         "timeoutS": 0,
                     *         "retries": 2,
                     *         "retryDelayMs": 5000,
                     *         "retryBackoff": 1,
                     *         "startDeadlineMs": 60000,
                     *         "onUnknown": "wait"
                     *       },
                     *       "children": [],
                     *       "alarmEmails": [],
                     *       "nextAt": "2026-11-22T01:30:00.000Z",
                     *       "nextMs": 1795311000000,
                     *       "lastAt": "2026-11-21T01:30:00.000Z",
                     *       "lastMs": 1795224600000,
                     *       "recent": [
                     *         {
                     *           "runId": 9006120,
                     *           "outcome": "failed",
                     *           "tookMs": 41185
                     *         }
                     *       ],
                     *       "streak": {
                     *         "outcome": "failed",
                     *         "count": 1,
                     *         "sinceAt": "2026-11-21T01:30:00.000Z",
                     *         "sinceMs": 1795224600000
                     *       },
                     *       "scriptVersion": 12,
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 17
                     *     }
                     */
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description With `dryRun`: all rules are kept, and nothing has changed */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    batchJobs: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The same key from the same user within 24 h gives the first answer again and does nothing; with another body 422
                 * @example deploy-2026-11-21-0001
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description W3C Trace Context. The run that this asks for, its retries and its children's runs belong to that trace. What cannot be read is ignored
                 * @example 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
                 */
                traceparent?: components["parameters"]["Traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "stop",
                 *       "ids": [
                 *         42,
                 *         118
                 *       ],
                 *       "reason": "release",
                 *       "dryRun": true
                 *     }
                 */
                "application/json": components["schemas"]["JobBatch"];
            };
        };
        responses: {
            /** @description What was done, job by job */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "dryRun": true,
                     *       "done": 1,
                     *       "refused": 1,
                     *       "items": [
                     *         {
                     *           "id": 42,
                     *           "ok": true,
                     *           "problem": null
                     *         },
                     *         {
                     *           "id": 118,
                     *           "ok": false,
                     *           "problem": {
                     *             "type": "/problems/forbidden",
                     *             "title": "Not permitted",
                     *             "status": 403,
                     *             "code": "forbidden"
                     *           }
                     *         }
                     *       ],
                     *       "consequences": {
                     *         "firingsWithdrawn": 2,
                     *         "retriesWithdrawn": 1,
                     *         "openRuns": 1,
                     *         "firings24h": 96,
                     *         "childrenOfOthers": 0
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["BatchResult"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getJob: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that one has: 304 if it still holds
                 * @example "j42-17"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 42,
                     *       "name": "Nightly ledger backup",
                     *       "group": {
                     *         "id": 3,
                     *         "app": "ops-agent",
                     *         "title": "Operations"
                     *       },
                     *       "owner": "ops-1",
                     *       "state": "scheduled",
                     *       "stopReason": null,
                     *       "schedule": {
                     *         "type": "CRON",
                     *         "conf": "0 30 2 ? * SUN-FRI",
                     *         "zone": "Europe/Berlin",
                     *         "dst": "smart",
                     *         "misfire": "DO_NOTHING",
                     *         "misfireMax": 100
                     *       },
                     *       "task": {
                     *         "kind": "GLUE_SHELL",
                     *         "handler": "",
                     *         "param": "--full"
                     *       },
                     *       "running": {
                     *         "route": "ROUND",
                     *         "block": "SERIAL_EXECUTION",
                     *         "timeoutS": 0,
                     *         "retries": 2,
                     *         "retryDelayMs": 5000,
                     *         "retryBackoff": 1,
                     *         "startDeadlineMs": 60000,
                     *         "onUnknown": "wait"
                     *       },
                     *       "children": [],
                     *       "alarmEmails": [],
                     *       "nextAt": "2026-11-22T01:30:00.000Z",
                     *       "nextMs": 1795311000000,
                     *       "lastAt": "2026-11-21T01:30:00.000Z",
                     *       "lastMs": 1795224600000,
                     *       "recent": [
                     *         {
                     *           "runId": 9006120,
                     *           "outcome": "failed",
                     *           "tookMs": 41185
                     *         }
                     *       ],
                     *       "streak": {
                     *         "outcome": "failed",
                     *         "count": 1,
                     *         "sinceAt": "2026-11-21T01:30:00.000Z",
                     *         "sinceMs": 1795224600000
                     *       },
                     *       "scriptVersion": 12,
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 17
                     *     }
                     */
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description Unchanged */
            304: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteJob: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted; its log rows go step by step */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateJob: {
        parameters: {
            query?: {
                /** @description true: look at all rules, and change nothing */
                dryRun?: components["parameters"]["DryRun"];
            };
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "schedule": {
                 *         "conf": "0 0 3 ? * SUN-FRI"
                 *       }
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["JobPatch"];
            };
        };
        responses: {
            /** @description As it is now */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 42,
                     *       "name": "Nightly ledger backup",
                     *       "group": {
                     *         "id": 3,
                     *         "app": "ops-agent",
                     *         "title": "Operations"
                     *       },
                     *       "owner": "ops-1",
                     *       "state": "scheduled",
                     *       "stopReason": null,
                     *       "schedule": {
                     *         "type": "CRON",
                     *         "conf": "0 30 2 ? * SUN-FRI",
                     *         "zone": "Europe/Berlin",
                     *         "dst": "smart",
                     *         "misfire": "DO_NOTHING",
                     *         "misfireMax": 100
                     *       },
                     *       "task": {
                     *         "kind": "GLUE_SHELL",
                     *         "handler": "",
                     *         "param": "--full"
                     *       },
                     *       "running": {
                     *         "route": "ROUND",
                     *         "block": "SERIAL_EXECUTION",
                     *         "timeoutS": 0,
                     *         "retries": 2,
                     *         "retryDelayMs": 5000,
                     *         "retryBackoff": 1,
                     *         "startDeadlineMs": 60000,
                     *         "onUnknown": "wait"
                     *       },
                     *       "children": [],
                     *       "alarmEmails": [],
                     *       "nextAt": "2026-11-22T01:30:00.000Z",
                     *       "nextMs": 1795311000000,
                     *       "lastAt": "2026-11-21T01:30:00.000Z",
                     *       "lastMs": 1795224600000,
                     *       "recent": [
                     *         {
                     *           "runId": 9006120,
                     *           "outcome": "failed",
                     *           "tookMs": 41185
                     *         }
                     *       ],
                     *       "streak": {
                     *         "outcome": "failed",
                     *         "count": 1,
                     *         "sinceAt": "2026-11-21T01:30:00.000Z",
                     *         "sinceMs": 1795224600000
                     *       },
                     *       "scriptVersion": 12,
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 17
                     *     }
                     */
                    "application/json": components["schemas"]["Job"];
                };
            };
            /** @description With `dryRun`: all rules are kept, and nothing has changed */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getConsequences: {
        parameters: {
            query: {
                /** @description The action */
                action: "stop" | "delete" | "update";
                /** @description Of the schedule after an update, as the three below; absent: as it is */
                type?: components["schemas"]["ScheduleType"];
                /** @description As in a schedule */
                conf?: string;
                /** @description As in a schedule */
                zone?: string;
                /** @description As in a schedule */
                dst?: "xxl" | "smart";
            };
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Before it is confirmed */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "firingsWithdrawn": 2,
                     *       "retriesWithdrawn": 0,
                     *       "openRuns": 1,
                     *       "firings24h": 1,
                     *       "childrenOfOthers": 1,
                     *       "logRows": 812,
                     *       "changes": {
                     *         "items": [
                     *           {
                     *             "what": "vanish",
                     *             "ms": 1795311000000,
                     *             "toMs": null
                     *           }
                     *         ],
                     *         "vanish": 1,
                     *         "appear": 0,
                     *         "move": 0,
                     *         "untilMs": 1795357928000
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Consequences"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    startJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Scheduled */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 42,
                     *       "name": "Nightly ledger backup",
                     *       "group": {
                     *         "id": 3,
                     *         "app": "ops-agent",
                     *         "title": "Operations"
                     *       },
                     *       "owner": "ops-1",
                     *       "state": "scheduled",
                     *       "stopReason": null,
                     *       "schedule": {
                     *         "type": "CRON",
                     *         "conf": "0 30 2 ? * SUN-FRI",
                     *         "zone": "Europe/Berlin",
                     *         "dst": "smart",
                     *         "misfire": "DO_NOTHING",
                     *         "misfireMax": 100
                     *       },
                     *       "task": {
                     *         "kind": "GLUE_SHELL",
                     *         "handler": "",
                     *         "param": "--full"
                     *       },
                     *       "running": {
                     *         "route": "ROUND",
                     *         "block": "SERIAL_EXECUTION",
                     *         "timeoutS": 0,
                     *         "retries": 2,
                     *         "retryDelayMs": 5000,
                     *         "retryBackoff": 1,
                     *         "startDeadlineMs": 60000,
                     *         "onUnknown": "wait"
                     *       },
                     *       "children": [],
                     *       "alarmEmails": [],
                     *       "nextAt": "2026-11-22T01:30:00.000Z",
                     *       "nextMs": 1795311000000,
                     *       "lastAt": "2026-11-21T01:30:00.000Z",
                     *       "lastMs": 1795224600000,
                     *       "recent": [
                     *         {
                     *           "runId": 9006120,
                     *           "outcome": "failed",
                     *           "tookMs": 41185
                     *         }
                     *       ],
                     *       "streak": {
                     *         "outcome": "failed",
                     *         "count": 1,
                     *         "sinceAt": "2026-11-21T01:30:00.000Z",
                     *         "sinceMs": 1795224600000
                     *       },
                     *       "scriptVersion": 12,
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 17
                     *     }
                     */
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    stopJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "release of 14:00"
                 *     }
                 */
                "application/json": components["schemas"]["StopRequest"];
            };
        };
        responses: {
            /** @description Stopped: nothing is sent after this answer */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 42,
                     *       "name": "Nightly ledger backup",
                     *       "group": {
                     *         "id": 3,
                     *         "app": "ops-agent",
                     *         "title": "Operations"
                     *       },
                     *       "owner": "ops-1",
                     *       "state": "scheduled",
                     *       "stopReason": null,
                     *       "schedule": {
                     *         "type": "CRON",
                     *         "conf": "0 30 2 ? * SUN-FRI",
                     *         "zone": "Europe/Berlin",
                     *         "dst": "smart",
                     *         "misfire": "DO_NOTHING",
                     *         "misfireMax": 100
                     *       },
                     *       "task": {
                     *         "kind": "GLUE_SHELL",
                     *         "handler": "",
                     *         "param": "--full"
                     *       },
                     *       "running": {
                     *         "route": "ROUND",
                     *         "block": "SERIAL_EXECUTION",
                     *         "timeoutS": 0,
                     *         "retries": 2,
                     *         "retryDelayMs": 5000,
                     *         "retryBackoff": 1,
                     *         "startDeadlineMs": 60000,
                     *         "onUnknown": "wait"
                     *       },
                     *       "children": [],
                     *       "alarmEmails": [],
                     *       "nextAt": "2026-11-22T01:30:00.000Z",
                     *       "nextMs": 1795311000000,
                     *       "lastAt": "2026-11-21T01:30:00.000Z",
                     *       "lastMs": 1795224600000,
                     *       "recent": [
                     *         {
                     *           "runId": 9006120,
                     *           "outcome": "failed",
                     *           "tookMs": 41185
                     *         }
                     *       ],
                     *       "streak": {
                     *         "outcome": "failed",
                     *         "count": 1,
                     *         "sinceAt": "2026-11-21T01:30:00.000Z",
                     *         "sinceMs": 1795224600000
                     *       },
                     *       "scriptVersion": 12,
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 17
                     *     }
                     */
                    "application/json": components["schemas"]["Job"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    triggerJob: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The same key from the same user within 24 h gives the first answer again and does nothing; with another body 422
                 * @example deploy-2026-11-21-0001
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description W3C Trace Context. The run that this asks for, its retries and its children's runs belong to that trace. What cannot be read is ignored
                 * @example 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
                 */
                traceparent?: components["parameters"]["Traceparent"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "param": "--full",
                 *       "addresses": []
                 *     }
                 */
                "application/json": components["schemas"]["Trigger"];
            };
        };
        responses: {
            /** @description The run exists */
            201: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runId": 9007412
                     *     }
                     */
                    "application/json": components["schemas"]["Triggered"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFires: {
        parameters: {
            query?: {
                /** @description Instant: RFC 3339 or epoch ms; included */
                from?: components["parameters"]["From"];
                /** @description How many */
                count?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Next firings */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "at": "2026-11-22T01:30:00.000Z",
                     *           "ms": 1795311000000,
                     *           "local": "2026-11-22T02:30:00",
                     *           "offset": "+01:00",
                     *           "zone": "Europe/Berlin",
                     *           "planned": false,
                     *           "note": null,
                     *           "crowd": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        items: components["schemas"]["Fire"][];
                    };
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getJobStats: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Figures of its last runs */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "window": 100,
                     *       "durations": {
                     *         "p50Ms": 41200,
                     *         "p95Ms": 46200,
                     *         "maxMs": 80100
                     *       },
                     *       "days": [
                     *         {
                     *           "day": "2026-11-21",
                     *           "succeeded": 0,
                     *           "failed": 1
                     *         }
                     *       ],
                     *       "heat": [
                     *         0,
                     *         0,
                     *         1
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["JobStats"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listJobChanges: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest first */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 801,
                     *           "actor": {
                     *             "id": 1,
                     *             "name": "ops-1"
                     *           },
                     *           "via": "console",
                     *           "address": "10.1.2.3",
                     *           "action": "job.update",
                     *           "object": {
                     *             "kind": "job",
                     *             "id": "42",
                     *             "name": "Nightly ledger backup"
                     *           },
                     *           "changes": [
                     *             {
                     *               "field": "/schedule/conf",
                     *               "before": "0 0 2 * * ?",
                     *               "after": "0 30 2 ? * SUN-FRI"
                     *             }
                     *           ],
                     *           "items": 0,
                     *           "reason": null,
                     *           "at": "2026-11-21T14:32:08.000Z",
                     *           "ms": 1795271528000
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AuditList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listScripts: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest first, without source */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "version": 12,
                     *           "remark": "zstd in place of gzip",
                     *           "author": {
                     *             "id": 1,
                     *             "name": "ops-1"
                     *           },
                     *           "bytes": 214,
                     *           "createdAt": "2026-11-21T14:32:08.000Z",
                     *           "createdMs": 1795271528000,
                     *           "source": null
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ScriptList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    publishScript: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "source": "#!/bin/bash\n…",
                 *       "remark": "zstd in place of gzip",
                 *       "baseVersion": 11
                 *     }
                 */
                "application/json": components["schemas"]["ScriptNew"];
            };
        };
        responses: {
            /** @description Acts from the next run on */
            201: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": 12,
                     *       "remark": "zstd in place of gzip",
                     *       "author": {
                     *         "id": 1,
                     *         "name": "ops-1"
                     *       },
                     *       "bytes": 214,
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "source": null
                     *     }
                     */
                    "application/json": components["schemas"]["Script"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getScript: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Its id
                 * @example 12
                 */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The script */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": 12,
                     *       "remark": "zstd in place of gzip",
                     *       "author": {
                     *         "id": 1,
                     *         "name": "ops-1"
                     *       },
                     *       "bytes": 214,
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "source": "#!/bin/bash\n…"
                     *     }
                     */
                    "application/json": components["schemas"]["Script"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    previewSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "schedule": {
                 *         "type": "CRON",
                 *         "conf": "0 30 2 ? * SUN-FRI",
                 *         "zone": "Europe/Berlin",
                 *         "dst": "smart",
                 *         "misfire": "DO_NOTHING",
                 *         "misfireMax": 100
                 *       },
                 *       "count": 10,
                 *       "language": "en",
                 *       "days": 371
                 *     }
                 */
                "application/json": components["schemas"]["PreviewRequest"];
            };
        };
        responses: {
            /** @description Also for an expression that is refused (`valid` false) */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "valid": true,
                     *       "sentence": "At 02:30, every day except Saturday, in Europe/Berlin.",
                     *       "fields": [
                     *         {
                     *           "name": "hour",
                     *           "text": "2",
                     *           "meaning": "at 02"
                     *         }
                     *       ],
                     *       "fires": [
                     *         {
                     *           "at": "2026-11-22T01:30:00.000Z",
                     *           "ms": 1795311000000,
                     *           "local": "2026-11-22T02:30:00",
                     *           "offset": "+01:00",
                     *           "zone": "Europe/Berlin",
                     *           "planned": false,
                     *           "note": null,
                     *           "crowd": 0
                     *         }
                     *       ],
                     *       "warnings": [
                     *         {
                     *           "code": "gap",
                     *           "detail": "28 March 2027 has no 02:30: it fires at 03:00",
                     *           "params": {},
                     *           "whenAt": "2027-03-28T01:00:00.000Z",
                     *           "whenMs": 1806195600000
                     *         }
                     *       ],
                     *       "calendar": [
                     *         {
                     *           "day": "2026-11-22",
                     *           "count": 1
                     *         }
                     *       ],
                     *       "errors": [],
                     *       "suggestion": null
                     *     }
                     */
                    "application/json": components["schemas"]["Preview"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listZones: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Zones */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "name": "Europe/Berlin",
                     *           "offset": "+01:00"
                     *         }
                     *       ],
                     *       "server": "Asia/Shanghai"
                     *     }
                     */
                    "application/json": components["schemas"]["Zones"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listGroups: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
                /** @description Only these members of each item, separated by commas, such as `id,name,nextMs`; `id` always comes */
                fields?: components["parameters"]["Fields"];
                /** @description Words in names, handlers, owners, or an id */
                q?: components["parameters"]["Q"];
                /** @description `bad`: an address is missing or none is up */
                health?: "bad" | "ok";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Groups with live numbers */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 3,
                     *           "app": "ops-agent",
                     *           "title": "Operations",
                     *           "addressing": "registry",
                     *           "addresses": [],
                     *           "up": 2,
                     *           "total": 2,
                     *           "jobs": 14,
                     *           "failing": 1,
                     *           "updatedAt": "2026-11-21T14:32:08.000Z",
                     *           "updatedMs": 1795271528000,
                     *           "version": 4
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["GroupList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    createGroup: {
        parameters: {
            query?: {
                /** @description true: look at all rules, and change nothing */
                dryRun?: components["parameters"]["DryRun"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "app": "ops-agent",
                 *       "title": "Operations",
                 *       "addressing": "registry",
                 *       "addresses": []
                 *     }
                 */
                "application/json": components["schemas"]["GroupNew"];
            };
        };
        responses: {
            /** @description Made */
            201: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 3,
                     *       "app": "ops-agent",
                     *       "title": "Operations",
                     *       "addressing": "registry",
                     *       "addresses": [],
                     *       "up": 2,
                     *       "total": 2,
                     *       "jobs": 14,
                     *       "failing": 1,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 4
                     *     }
                     */
                    "application/json": components["schemas"]["Group"];
                };
            };
            /** @description With `dryRun`: all rules are kept, and nothing has changed */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The group */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 3,
                     *       "app": "ops-agent",
                     *       "title": "Operations",
                     *       "addressing": "registry",
                     *       "addresses": [],
                     *       "up": 2,
                     *       "total": 2,
                     *       "jobs": 14,
                     *       "failing": 1,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 4
                     *     }
                     */
                    "application/json": components["schemas"]["Group"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteGroup: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateGroup: {
        parameters: {
            query?: {
                /** @description true: look at all rules, and change nothing */
                dryRun?: components["parameters"]["DryRun"];
            };
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Operations EU"
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["GroupPatch"];
            };
        };
        responses: {
            /** @description As it is now */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 3,
                     *       "app": "ops-agent",
                     *       "title": "Operations",
                     *       "addressing": "registry",
                     *       "addresses": [],
                     *       "up": 2,
                     *       "total": 2,
                     *       "jobs": 14,
                     *       "failing": 1,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 4
                     *     }
                     */
                    "application/json": components["schemas"]["Group"];
                };
            };
            /** @description With `dryRun`: all rules are kept, and nothing has changed */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getGroupToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "groupId": 3,
                     *       "token": "q1Vn0yYB3sLmV0c9kYx2pQ7dWfT4uHrZ5aGjEoNiSbM",
                     *       "next": "Zt8RkW2xHc5mQ1vLy7uJd4pGn0aFs9eBoKi3TrXhYqC",
                     *       "sinceAt": "2026-11-21T14:32:08.000Z",
                     *       "sinceMs": 1795271528000,
                     *       "moved": 1,
                     *       "left": 1,
                     *       "waiting": [
                     *         {
                     *           "address": "http://10.0.3.7:9999/",
                     *           "registered": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["GroupToken"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    changeGroupToken: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["GroupTokenChange"];
            };
        };
        responses: {
            /** @description As it is now */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "groupId": 3,
                     *       "token": "q1Vn0yYB3sLmV0c9kYx2pQ7dWfT4uHrZ5aGjEoNiSbM",
                     *       "next": "Zt8RkW2xHc5mQ1vLy7uJd4pGn0aFs9eBoKi3TrXhYqC",
                     *       "sinceAt": "2026-11-21T14:32:08.000Z",
                     *       "sinceMs": 1795271528000,
                     *       "moved": 0,
                     *       "left": 1,
                     *       "waiting": [
                     *         {
                     *           "address": "http://10.0.3.7:9999/",
                     *           "registered": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["GroupToken"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeGroupToken: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    finishGroupToken: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it is now */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "groupId": 3,
                     *       "token": "Zt8RkW2xHc5mQ1vLy7uJd4pGn0aFs9eBoKi3TrXhYqC",
                     *       "next": null,
                     *       "sinceAt": "2026-11-21T14:32:08.000Z",
                     *       "sinceMs": 1795271528000,
                     *       "moved": 0,
                     *       "left": 0,
                     *       "waiting": []
                     *     }
                     */
                    "application/json": components["schemas"]["GroupToken"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    withdrawGroupToken: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it is now */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "groupId": 3,
                     *       "token": "q1Vn0yYB3sLmV0c9kYx2pQ7dWfT4uHrZ5aGjEoNiSbM",
                     *       "next": null,
                     *       "sinceAt": "2026-11-21T14:32:08.000Z",
                     *       "sinceMs": 1795271528000,
                     *       "moved": 0,
                     *       "left": 0,
                     *       "waiting": []
                     *     }
                     */
                    "application/json": components["schemas"]["GroupToken"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listExecutors: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
                /** @description Only these members of each item, separated by commas, such as `id,name,nextMs`; `id` always comes */
                fields?: components["parameters"]["Fields"];
                /**
                 * @description Ids or app names of groups, separated by commas
                 * @example ops-agent
                 */
                group?: components["parameters"]["GroupFilter"];
                /** @description State */
                state?: "up" | "refusing" | "silent" | "draining";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description From the memory of the scheduler */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "notKnown": [],
                     *       "items": [
                     *         {
                     *           "key": "aHR0cDovLzEwLjAuMy43Ojk5OTkv",
                     *           "address": "http://10.0.3.7:9999/",
                     *           "groups": [
                     *             {
                     *               "id": 3,
                     *               "app": "ops-agent",
                     *               "title": "Operations"
                     *             }
                     *           ],
                     *           "state": "refusing",
                     *           "source": "registry",
                     *           "ours": true,
                     *           "lane": {
                     *             "waiting": 12,
                     *             "inFlight": 3,
                     *             "connections": 8,
                     *             "connectionsMax": 64
                     *           },
                     *           "open": 7,
                     *           "unknown": 1,
                     *           "beatAgeMs": 12800,
                     *           "answerP95Ms": 4.1,
                     *           "sinceAt": "2026-11-21T14:32:08.000Z",
                     *           "sinceMs": 1795271528000,
                     *           "lastError": "connection refused",
                     *           "lastErrorAt": "2026-11-21T14:32:08.000Z",
                     *           "lastErrorMs": 1795271528000
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ExecutorList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getExecutor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Key of an executor
                 * @example aHR0cDovLzEwLjAuMy43Ojk5OTkv
                 */
                key: components["parameters"]["ExecutorKey"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The executor */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key": "aHR0cDovLzEwLjAuMy43Ojk5OTkv",
                     *       "address": "http://10.0.3.7:9999/",
                     *       "groups": [
                     *         {
                     *           "id": 3,
                     *           "app": "ops-agent",
                     *           "title": "Operations"
                     *         }
                     *       ],
                     *       "state": "refusing",
                     *       "source": "registry",
                     *       "ours": true,
                     *       "lane": {
                     *         "waiting": 12,
                     *         "inFlight": 3,
                     *         "connections": 8,
                     *         "connectionsMax": 64
                     *       },
                     *       "open": 7,
                     *       "unknown": 1,
                     *       "beatAgeMs": 12800,
                     *       "answerP95Ms": 4.1,
                     *       "sinceAt": "2026-11-21T14:32:08.000Z",
                     *       "sinceMs": 1795271528000,
                     *       "lastError": "connection refused",
                     *       "lastErrorAt": "2026-11-21T14:32:08.000Z",
                     *       "lastErrorMs": 1795271528000
                     *     }
                     */
                    "application/json": components["schemas"]["Executor"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeExecutor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Key of an executor
                 * @example aHR0cDovLzEwLjAuMy43Ojk5OTkv
                 */
                key: components["parameters"]["ExecutorKey"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone until it registers again */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    probeExecutor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Key of an executor
                 * @example aHR0cDovLzEwLjAuMy43Ojk5OTkv
                 */
                key: components["parameters"]["ExecutorKey"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What came of it, also if it does not answer */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "reachable": true,
                     *       "tookMs": 1.8,
                     *       "said": "code 200",
                     *       "busyJobs": [
                     *         42
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Probe"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TimedOut"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
                /** @description Only these members of each item, separated by commas, such as `id,name,nextMs`; `id` always comes */
                fields?: components["parameters"]["Fields"];
                /** @description Words in names, handlers, owners, or an id */
                q?: components["parameters"]["Q"];
                /**
                 * @description Ids or app names of groups, separated by commas
                 * @example ops-agent
                 */
                group?: components["parameters"]["GroupFilter"];
                /** @description Instant: RFC 3339 or epoch ms; included */
                from?: components["parameters"]["From"];
                /** @description Instant: RFC 3339 or epoch ms; not included */
                to?: components["parameters"]["To"];
                /** @description Ids, separated by commas */
                job?: string;
                /**
                 * @description Outcomes, separated by commas
                 * @example failed,timed_out
                 */
                outcome?: string;
                /** @description Kinds, separated by commas */
                kind?: string;
                /** @description Executor */
                address?: string;
                /** @description Code of a cause */
                cause?: string;
                /** @description At least so long */
                minTookMs?: number;
                /** @description Sent over 1 s late, of runs that have ended */
                late?: boolean;
                /** @description Open for 10 s at least, and for over 3 times as long as 95 of 100 of the last runs of its job took */
                stuck?: boolean;
                /** @description Open with an unknown outcome */
                unknown?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of runs */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 9006120,
                     *           "job": {
                     *             "id": 42,
                     *             "name": "Nightly ledger backup"
                     *           },
                     *           "group": {
                     *             "id": 3,
                     *             "app": "ops-agent",
                     *             "title": "Operations"
                     *           },
                     *           "outcome": "failed",
                     *           "phase": "failed",
                     *           "kind": "CRON",
                     *           "attempt": 0,
                     *           "shard": null,
                     *           "address": "10.0.3.7:9999",
                     *           "handler": "",
                     *           "param": "--full",
                     *           "cause": {
                     *             "code": "PE-3001",
                     *             "text": "Script ended with exit code 3"
                     *           },
                     *           "scheduledAt": "2026-11-21T01:30:00.000Z",
                     *           "scheduledMs": 1795224600000,
                     *           "sentAt": "2026-11-21T01:30:00.001Z",
                     *           "sentMs": 1795224600001,
                     *           "endedAt": "2026-11-21T01:30:41.190Z",
                     *           "endedMs": 1795224641190,
                     *           "tookMs": 41185,
                     *           "latenessMs": 1.3,
                     *           "resultCode": 3,
                     *           "message": "backup.sh: line 4: pipeline ended with code 3"
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["RunList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getRun: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that one has: 304 if it still holds
                 * @example "j42-17"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "run": {
                     *         "id": 9006120,
                     *         "job": {
                     *           "id": 42,
                     *           "name": "Nightly ledger backup"
                     *         },
                     *         "group": {
                     *           "id": 3,
                     *           "app": "ops-agent",
                     *           "title": "Operations"
                     *         },
                     *         "outcome": "failed",
                     *         "phase": "failed",
                     *         "kind": "CRON",
                     *         "attempt": 0,
                     *         "shard": null,
                     *         "address": "10.0.3.7:9999",
                     *         "handler": "",
                     *         "param": "--full",
                     *         "cause": {
                     *           "code": "PE-3001",
                     *           "text": "Script ended with exit code 3"
                     *         },
                     *         "scheduledAt": "2026-11-21T01:30:00.000Z",
                     *         "scheduledMs": 1795224600000,
                     *         "sentAt": "2026-11-21T01:30:00.001Z",
                     *         "sentMs": 1795224600001,
                     *         "endedAt": "2026-11-21T01:30:41.190Z",
                     *         "endedMs": 1795224641190,
                     *         "tookMs": 41185,
                     *         "latenessMs": 1.3,
                     *         "resultCode": 3,
                     *         "message": "backup.sh: line 4: pipeline ended with code 3"
                     *       },
                     *       "traceId": "5f0c1f1de7a1b2c3d4e5f60718293a4b",
                     *       "notKnown": [],
                     *       "story": [
                     *         {
                     *           "step": "sent",
                     *           "at": "2026-11-21T01:30:00.001Z",
                     *           "ms": 1795224600001,
                     *           "sinceMs": 1.3,
                     *           "ok": true,
                     *           "params": {
                     *             "address": "10.0.3.7:9999",
                     *             "bytes": 512,
                     *             "waitedMs": 0
                     *           }
                     *         }
                     *       ],
                     *       "exact": true,
                     *       "related": {
                     *         "retryOf": null,
                     *         "retries": [
                     *           9006131
                     *         ],
                     *         "parent": null,
                     *         "children": [],
                     *         "shards": [],
                     *         "previous": 9005012,
                     *         "next": null,
                     *         "lastSuccess": 9004800
                     *       },
                     *       "neighbours": [
                     *         {
                     *           "runId": 9005012,
                     *           "outcome": "succeeded",
                     *           "tookMs": 40100
                     *         }
                     *       ],
                     *       "sameCause": {
                     *         "jobs": 0,
                     *         "runs": 0
                     *       },
                     *       "changedSince": [
                     *         {
                     *           "id": 801,
                     *           "actor": {
                     *             "id": 1,
                     *             "name": "ops-1"
                     *           },
                     *           "via": "console",
                     *           "address": "10.1.2.3",
                     *           "action": "job.update",
                     *           "object": {
                     *             "kind": "job",
                     *             "id": "42",
                     *             "name": "Nightly ledger backup"
                     *           },
                     *           "changes": [
                     *             {
                     *               "field": "/schedule/conf",
                     *               "before": "0 0 2 * * ?",
                     *               "after": "0 30 2 ? * SUN-FRI"
                     *             }
                     *           ],
                     *           "items": 0,
                     *           "reason": null,
                     *           "at": "2026-11-21T14:32:08.000Z",
                     *           "ms": 1795271528000
                     *         }
                     *       ],
                     *       "usualMs": 41200,
                     *       "log": {
                     *         "available": true,
                     *         "why": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["RunDetail"];
                };
            };
            /** @description Unchanged */
            304: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    killRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Answered when the end is on disk */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "outcome": "killed",
                     *       "said": "the executor ended it"
                     *     }
                     */
                    "application/json": components["schemas"]["Killed"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TimedOut"];
        };
    };
    rerunRun: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The same key from the same user within 24 h gives the first answer again and does nothing; with another body 422
                 * @example deploy-2026-11-21-0001
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description W3C Trace Context. The run that this asks for, its retries and its children's runs belong to that trace. What cannot be read is ignored
                 * @example 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
                 */
                traceparent?: components["parameters"]["Traceparent"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "param": "--full",
                 *       "addresses": []
                 *     }
                 */
                "application/json": components["schemas"]["Trigger"];
            };
        };
        responses: {
            /** @description The new run */
            201: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runId": 9007412
                     *     }
                     */
                    "application/json": components["schemas"]["Triggered"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    batchRuns: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The same key from the same user within 24 h gives the first answer again and does nothing; with another body 422
                 * @example deploy-2026-11-21-0001
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /**
                 * @description W3C Trace Context. The run that this asks for, its retries and its children's runs belong to that trace. What cannot be read is ignored
                 * @example 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
                 */
                traceparent?: components["parameters"]["Traceparent"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "rerun",
                 *       "ids": [
                 *         9006120
                 *       ],
                 *       "dryRun": false
                 *     }
                 */
                "application/json": components["schemas"]["RunBatch"];
            };
        };
        responses: {
            /** @description Run by run */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "dryRun": false,
                     *       "done": 1,
                     *       "refused": 0,
                     *       "items": [
                     *         {
                     *           "id": 9006120,
                     *           "ok": true,
                     *           "runId": 9007500,
                     *           "problem": null
                     *         }
                     *       ],
                     *       "consequences": {}
                     *     }
                     */
                    "application/json": components["schemas"]["BatchResult"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    cleanRuns: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "rule": "older_3_months",
                 *       "groupId": 3,
                 *       "dryRun": true
                 *     }
                 */
                "application/json": components["schemas"]["CleanRequest"];
            };
        };
        responses: {
            /** @description Counted, or begun: rows go in steps */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "dryRun": true,
                     *       "rows": 182311,
                     *       "exact": true
                     *     }
                     */
                    "application/json": components["schemas"]["CleanResult"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getLog: {
        parameters: {
            query?: {
                /** @description First line */
                fromLine?: number;
                /** @description Lines */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lines as plain text */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "fromLine": 1,
                     *       "toLine": 2,
                     *       "lines": [
                     *         "02:30:00.001 start",
                     *         "02:30:00.214 dump chunk 0"
                     *       ],
                     *       "end": false,
                     *       "state": "running",
                     *       "readAt": "2026-11-21T14:32:08.000Z",
                     *       "readMs": 1795271528000
                     *     }
                     */
                    "application/json": components["schemas"]["LogPage"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TimedOut"];
        };
    };
    downloadLog: {
        parameters: {
            query?: {
                /** @description false: without ANSI sequences */
                ansi?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The log */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    /** @example attachment; filename="run-9006120.log" */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /** @example 02:30:00.001 start */
                    "text/plain": string;
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TimedOut"];
        };
    };
    streamLog: {
        parameters: {
            query?: {
                /** @description First line; Last-Event-ID counts more */
                fromLine?: number;
            };
            header?: {
                /** @description Sent by browsers when they come back */
                "Last-Event-ID"?: components["parameters"]["LastEventId"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events `lines` (EventLog), `state` ({"state","end","detail"}), `bye`; the id of an event is the number of its last line, so a browser that comes back goes on behind it */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 214
                     *     event: lines
                     *     data: {"fromLine":213,"lines":["a","b"]}
                     */
                    "text/event-stream": unknown;
                    /**
                     * @example {
                     *       "lines": {
                     *         "fromLine": 213,
                     *         "lines": [
                     *           "a",
                     *           "b"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/vnd.peal.events+json": components["schemas"]["Events"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /**
                 * @description Ids or app names of groups, separated by commas
                 * @example ops-agent
                 */
                group?: components["parameters"]["GroupFilter"];
                /**
                 * @description Of run, executor, job, alarm, vitals; absent: all
                 * @example run,executor
                 */
                topics?: string;
                /** @description Only runs of these jobs */
                job?: string;
            };
            header?: {
                /** @description Sent by browsers when they come back */
                "Last-Event-ID"?: components["parameters"]["LastEventId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events `run` (EventRun), `runs` (EventRuns), `executor` (EventExecutor), `job` (EventJob), `alarm` (EventAlarm), `vitals` (EventVitals), `reset` (read again: what was missed is not kept), `bye` (reconnect elsewhere) */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 7-4711
                     *     event: job
                     *     data: {"id":42,"change":"stopped","version":18,"actor":"ops-1"}
                     */
                    "text/event-stream": unknown;
                    /**
                     * @example {
                     *       "job": {
                     *         "id": 42,
                     *         "change": "stopped",
                     *         "version": 18,
                     *         "actor": "ops-1"
                     *       }
                     *     }
                     */
                    "application/vnd.peal.events+json": components["schemas"]["Events"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAlarms: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
                /** @description true: that are open, false: that are closed */
                open?: boolean;
                /** @description Of this rule */
                rule?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Alarms */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 17,
                     *           "rule": {
                     *             "id": 3,
                     *             "name": "Payments fail"
                     *           },
                     *           "kind": "failed",
                     *           "level": "critical",
                     *           "group": {
                     *             "id": 4,
                     *             "app": "pay-executor",
                     *             "title": "Payments"
                     *           },
                     *           "cause": "executor",
                     *           "executor": "http://10.0.3.7:9999/",
                     *           "check": null,
                     *           "text": "cannot connect to @: Connection refused",
                     *           "sinceAt": "2026-11-21T14:32:08.000Z",
                     *           "sinceMs": 1795271528000,
                     *           "lastAt": "2026-11-21T14:32:08.000Z",
                     *           "lastMs": 1795271528000,
                     *           "jobs": 400,
                     *           "open": 398,
                     *           "events": 402,
                     *           "messages": 1,
                     *           "toldAt": "2026-11-21T14:32:08.000Z",
                     *           "toldMs": 1795271528000,
                     *           "acknowledgedAt": null,
                     *           "acknowledgedMs": null,
                     *           "acknowledgedBy": null,
                     *           "closedAt": null,
                     *           "closedMs": null,
                     *           "closedBy": null
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AlarmList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAlarm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The alarm */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 17,
                     *       "rule": {
                     *         "id": 3,
                     *         "name": "Payments fail"
                     *       },
                     *       "kind": "failed",
                     *       "level": "critical",
                     *       "group": {
                     *         "id": 4,
                     *         "app": "pay-executor",
                     *         "title": "Payments"
                     *       },
                     *       "cause": "executor",
                     *       "executor": "http://10.0.3.7:9999/",
                     *       "check": null,
                     *       "text": "cannot connect to @: Connection refused",
                     *       "sinceAt": "2026-11-21T14:32:08.000Z",
                     *       "sinceMs": 1795271528000,
                     *       "lastAt": "2026-11-21T14:32:08.000Z",
                     *       "lastMs": 1795271528000,
                     *       "jobs": 400,
                     *       "open": 398,
                     *       "events": 402,
                     *       "messages": 1,
                     *       "toldAt": "2026-11-21T14:32:08.000Z",
                     *       "toldMs": 1795271528000,
                     *       "acknowledgedAt": null,
                     *       "acknowledgedMs": null,
                     *       "acknowledgedBy": null,
                     *       "closedAt": null,
                     *       "closedMs": null,
                     *       "closedBy": null,
                     *       "items": [
                     *         {
                     *           "id": 118,
                     *           "name": "Settle card payments",
                     *           "runId": 9007341,
                     *           "sinceAt": "2026-11-21T14:32:08.000Z",
                     *           "sinceMs": 1795271528000,
                     *           "events": 1,
                     *           "tookMs": 0,
                     *           "text": "cannot connect to @: Connection refused",
                     *           "recoveredAt": null,
                     *           "recoveredMs": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AlarmDetail"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    acknowledgeAlarm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The alarm */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 17,
                     *       "rule": {
                     *         "id": 3,
                     *         "name": "Payments fail"
                     *       },
                     *       "kind": "failed",
                     *       "level": "critical",
                     *       "group": {
                     *         "id": 4,
                     *         "app": "pay-executor",
                     *         "title": "Payments"
                     *       },
                     *       "cause": "executor",
                     *       "executor": "http://10.0.3.7:9999/",
                     *       "check": null,
                     *       "text": "cannot connect to @: Connection refused",
                     *       "sinceAt": "2026-11-21T14:32:08.000Z",
                     *       "sinceMs": 1795271528000,
                     *       "lastAt": "2026-11-21T14:32:08.000Z",
                     *       "lastMs": 1795271528000,
                     *       "jobs": 400,
                     *       "open": 398,
                     *       "events": 402,
                     *       "messages": 1,
                     *       "toldAt": "2026-11-21T14:32:08.000Z",
                     *       "toldMs": 1795271528000,
                     *       "acknowledgedAt": null,
                     *       "acknowledgedMs": null,
                     *       "acknowledgedBy": null,
                     *       "closedAt": null,
                     *       "closedMs": null,
                     *       "closedBy": null,
                     *       "items": [
                     *         {
                     *           "id": 118,
                     *           "name": "Settle card payments",
                     *           "runId": 9007341,
                     *           "sinceAt": "2026-11-21T14:32:08.000Z",
                     *           "sinceMs": 1795271528000,
                     *           "events": 1,
                     *           "tookMs": 0,
                     *           "text": "cannot connect to @: Connection refused",
                     *           "recoveredAt": null,
                     *           "recoveredMs": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AlarmDetail"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    closeAlarm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The alarm */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 17,
                     *       "rule": {
                     *         "id": 3,
                     *         "name": "Payments fail"
                     *       },
                     *       "kind": "failed",
                     *       "level": "critical",
                     *       "group": {
                     *         "id": 4,
                     *         "app": "pay-executor",
                     *         "title": "Payments"
                     *       },
                     *       "cause": "executor",
                     *       "executor": "http://10.0.3.7:9999/",
                     *       "check": null,
                     *       "text": "cannot connect to @: Connection refused",
                     *       "sinceAt": "2026-11-21T14:32:08.000Z",
                     *       "sinceMs": 1795271528000,
                     *       "lastAt": "2026-11-21T14:32:08.000Z",
                     *       "lastMs": 1795271528000,
                     *       "jobs": 400,
                     *       "open": 398,
                     *       "events": 402,
                     *       "messages": 1,
                     *       "toldAt": "2026-11-21T14:32:08.000Z",
                     *       "toldMs": 1795271528000,
                     *       "acknowledgedAt": null,
                     *       "acknowledgedMs": null,
                     *       "acknowledgedBy": null,
                     *       "closedAt": null,
                     *       "closedMs": null,
                     *       "closedBy": null,
                     *       "items": [
                     *         {
                     *           "id": 118,
                     *           "name": "Settle card payments",
                     *           "runId": 9007341,
                     *           "sinceAt": "2026-11-21T14:32:08.000Z",
                     *           "sinceMs": 1795271528000,
                     *           "events": 1,
                     *           "tookMs": 0,
                     *           "text": "cannot connect to @: Connection refused",
                     *           "recoveredAt": null,
                     *           "recoveredMs": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AlarmDetail"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAlarmRules: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Rules */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 3,
                     *           "name": "Payments fail",
                     *           "kind": "failed",
                     *           "level": "critical",
                     *           "groupId": 4,
                     *           "jobId": null,
                     *           "inARow": 1,
                     *           "longerMs": null,
                     *           "channels": [
                     *             "webhook"
                     *           ],
                     *           "quiet": {
                     *             "from": "22:00",
                     *             "to": "06:30"
                     *           },
                     *           "repeatMs": 14400000,
                     *           "enabled": true,
                     *           "createdAt": "2026-11-21T14:32:08.000Z",
                     *           "createdMs": 1795271528000,
                     *           "updatedAt": "2026-11-21T14:32:08.000Z",
                     *           "updatedMs": 1795271528000,
                     *           "version": 1
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AlarmRuleList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAlarmRule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Payments fail",
                 *       "kind": "failed",
                 *       "level": "critical",
                 *       "groupId": 4,
                 *       "channels": [
                 *         "webhook"
                 *       ],
                 *       "repeatMs": 14400000
                 *     }
                 */
                "application/json": components["schemas"]["AlarmRuleNew"];
            };
        };
        responses: {
            /** @description Made */
            201: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 3,
                     *       "name": "Payments fail",
                     *       "kind": "failed",
                     *       "level": "critical",
                     *       "groupId": 4,
                     *       "jobId": null,
                     *       "inARow": 1,
                     *       "longerMs": null,
                     *       "channels": [
                     *         "webhook"
                     *       ],
                     *       "quiet": {
                     *         "from": "22:00",
                     *         "to": "06:30"
                     *       },
                     *       "repeatMs": 14400000,
                     *       "enabled": true,
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["AlarmRule"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAlarmRule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rule */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 3,
                     *       "name": "Payments fail",
                     *       "kind": "failed",
                     *       "level": "critical",
                     *       "groupId": 4,
                     *       "jobId": null,
                     *       "inARow": 1,
                     *       "longerMs": null,
                     *       "channels": [
                     *         "webhook"
                     *       ],
                     *       "quiet": {
                     *         "from": "22:00",
                     *         "to": "06:30"
                     *       },
                     *       "repeatMs": 14400000,
                     *       "enabled": true,
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["AlarmRule"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAlarmRule: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["Changed"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateAlarmRule: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": false
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["AlarmRulePatch"];
            };
        };
        responses: {
            /** @description As it is now */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 3,
                     *       "name": "Payments fail",
                     *       "kind": "failed",
                     *       "level": "critical",
                     *       "groupId": 4,
                     *       "jobId": null,
                     *       "inARow": 1,
                     *       "longerMs": null,
                     *       "channels": [
                     *         "webhook"
                     *       ],
                     *       "quiet": {
                     *         "from": "22:00",
                     *         "to": "06:30"
                     *       },
                     *       "repeatMs": 14400000,
                     *       "enabled": true,
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["AlarmRule"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listChannels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Channels */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 5,
                     *           "name": "night shift",
                     *           "kind": "dingtalk",
                     *           "origin": "api",
                     *           "enabled": true,
                     *           "perMinute": null,
                     *           "held": 0,
                     *           "target": "https://oapi.dingtalk.com",
                     *           "settings": {},
                     *           "secrets": [
                     *             "url",
                     *             "secret"
                     *           ],
                     *           "createdAt": "2026-11-21T14:32:08.000Z",
                     *           "createdMs": 1795271528000,
                     *           "updatedAt": "2026-11-21T14:32:08.000Z",
                     *           "updatedMs": 1795271528000,
                     *           "version": 1
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ChannelList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    createChannel: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "night shift",
                 *       "kind": "dingtalk",
                 *       "settings": {
                 *         "url": "https://oapi.dingtalk.com/robot/send?access_token=xxxx",
                 *         "secret": "SECxxxx"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ChannelNew"];
            };
        };
        responses: {
            /** @description Made */
            201: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 5,
                     *       "name": "night shift",
                     *       "kind": "dingtalk",
                     *       "origin": "api",
                     *       "enabled": true,
                     *       "perMinute": null,
                     *       "held": 0,
                     *       "target": "https://oapi.dingtalk.com",
                     *       "settings": {},
                     *       "secrets": [
                     *         "url",
                     *         "secret"
                     *       ],
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Channel"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The channel */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 5,
                     *       "name": "night shift",
                     *       "kind": "dingtalk",
                     *       "origin": "api",
                     *       "enabled": true,
                     *       "perMinute": null,
                     *       "held": 0,
                     *       "target": "https://oapi.dingtalk.com",
                     *       "settings": {},
                     *       "secrets": [
                     *         "url",
                     *         "secret"
                     *       ],
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Channel"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteChannel: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateChannel: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "enabled": false
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["ChannelPatch"];
            };
        };
        responses: {
            /** @description As it is now */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 5,
                     *       "name": "night shift",
                     *       "kind": "dingtalk",
                     *       "origin": "api",
                     *       "enabled": true,
                     *       "perMinute": null,
                     *       "held": 0,
                     *       "target": "https://oapi.dingtalk.com",
                     *       "settings": {},
                     *       "secrets": [
                     *         "url",
                     *         "secret"
                     *       ],
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000,
                     *       "updatedAt": "2026-11-21T14:32:08.000Z",
                     *       "updatedMs": 1795271528000,
                     *       "version": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Channel"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    testChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What came of it */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "outcome": "failed",
                     *       "said": "errcode 310000: sign not match",
                     *       "tookMs": 41
                     *     }
                     */
                    "application/json": components["schemas"]["ChannelTest"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSilences: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Silences */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 5,
                     *           "groupId": 4,
                     *           "jobId": null,
                     *           "ruleId": null,
                     *           "fromAt": "2026-11-21T14:32:08.000Z",
                     *           "fromMs": 1795271528000,
                     *           "untilAt": "2026-11-21T14:32:08.000Z",
                     *           "untilMs": 1795271528000,
                     *           "active": true,
                     *           "reason": "The executors move",
                     *           "by": "admin",
                     *           "createdAt": "2026-11-21T14:32:08.000Z",
                     *           "createdMs": 1795271528000
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SilenceList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    createSilence: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "groupId": 4,
                 *       "untilMs": 1795271528000,
                 *       "reason": "The executors move"
                 *     }
                 */
                "application/json": components["schemas"]["SilenceNew"];
            };
        };
        responses: {
            /** @description Made */
            201: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 5,
                     *       "groupId": 4,
                     *       "jobId": null,
                     *       "ruleId": null,
                     *       "fromAt": "2026-11-21T14:32:08.000Z",
                     *       "fromMs": 1795271528000,
                     *       "untilAt": "2026-11-21T14:32:08.000Z",
                     *       "untilMs": 1795271528000,
                     *       "active": true,
                     *       "reason": "The executors move",
                     *       "by": "admin",
                     *       "createdAt": "2026-11-21T14:32:08.000Z",
                     *       "createdMs": 1795271528000
                     *     }
                     */
                    "application/json": components["schemas"]["Silence"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteSilence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It has gone */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
                /** @description Of this alarm */
                alarm?: number;
                /** @description Of this failed run, by `alarmEmails` and the webhook of the settings */
                run?: number;
                /** @description To the channel of that name */
                channel?: string;
                /** @description That are in this state */
                state?: components["schemas"]["DeliveryState"];
                /** @description That were closed then or later, or are on their way */
                sinceMs?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deliveries */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 31,
                     *           "alarmId": 17,
                     *           "runId": null,
                     *           "group": {
                     *             "id": 4,
                     *             "app": "pay-executor",
                     *             "title": "Payments"
                     *           },
                     *           "channel": "night shift",
                     *           "message": "opened",
                     *           "state": "failed",
                     *           "tries": 14,
                     *           "said": "errcode 310000: sign not match",
                     *           "madeAt": "2026-11-21T14:32:08.000Z",
                     *           "madeMs": 1795271528000,
                     *           "resentAt": null,
                     *           "resentMs": null,
                     *           "closedAt": "2026-11-21T14:32:08.000Z",
                     *           "closedMs": 1795271528000
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 31,
                     *       "alarmId": 17,
                     *       "runId": null,
                     *       "group": {
                     *         "id": 4,
                     *         "app": "pay-executor",
                     *         "title": "Payments"
                     *       },
                     *       "channel": "night shift",
                     *       "message": "opened",
                     *       "state": "failed",
                     *       "tries": 14,
                     *       "said": "errcode 310000: sign not match",
                     *       "madeAt": "2026-11-21T14:32:08.000Z",
                     *       "madeMs": 1795271528000,
                     *       "resentAt": null,
                     *       "resentMs": null,
                     *       "closedAt": "2026-11-21T14:32:08.000Z",
                     *       "closedMs": 1795271528000,
                     *       "items": [
                     *         {
                     *           "target": "",
                     *           "n": 14,
                     *           "sentAt": "2026-11-21T14:32:08.000Z",
                     *           "sentMs": 1795271528000,
                     *           "tookMs": 41,
                     *           "outcome": "given_up",
                     *           "said": "errcode 310000: sign not match"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryDetail"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    resendDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is on its way */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 31,
                     *       "alarmId": 17,
                     *       "runId": null,
                     *       "group": {
                     *         "id": 4,
                     *         "app": "pay-executor",
                     *         "title": "Payments"
                     *       },
                     *       "channel": "night shift",
                     *       "message": "opened",
                     *       "state": "failed",
                     *       "tries": 14,
                     *       "said": "errcode 310000: sign not match",
                     *       "madeAt": "2026-11-21T14:32:08.000Z",
                     *       "madeMs": 1795271528000,
                     *       "resentAt": null,
                     *       "resentMs": null,
                     *       "closedAt": "2026-11-21T14:32:08.000Z",
                     *       "closedMs": 1795271528000,
                     *       "items": [
                     *         {
                     *           "target": "",
                     *           "n": 14,
                     *           "sentAt": "2026-11-21T14:32:08.000Z",
                     *           "sentMs": 1795271528000,
                     *           "tookMs": 41,
                     *           "outcome": "given_up",
                     *           "said": "errcode 310000: sign not match"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryDetail"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
                /** @description Only these members of each item, separated by commas, such as `id,name,nextMs`; `id` always comes */
                fields?: components["parameters"]["Fields"];
                /** @description Words in names, handlers, owners, or an id */
                q?: components["parameters"]["Q"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Users */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 2,
                     *           "name": "dev-2",
                     *           "center": "none",
                     *           "grants": [
                     *             {
                     *               "role": "developer",
                     *               "groups": [
                     *                 4
                     *               ]
                     *             },
                     *             {
                     *               "role": "viewer",
                     *               "groups": null
                     *             }
                     *           ],
                     *           "createdAt": null,
                     *           "createdMs": null,
                     *           "lastLoginAt": "2026-11-21T14:32:08.000Z",
                     *           "lastLoginMs": 1795271528000,
                     *           "sessions": 1,
                     *           "version": 3
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["UserList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    createUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "dev-2",
                 *       "password": "a first password",
                 *       "center": "none",
                 *       "grants": [
                 *         {
                 *           "role": "developer",
                 *           "groups": [
                 *             4
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["UserNew"];
            };
        };
        responses: {
            /** @description Made */
            201: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 2,
                     *       "name": "dev-2",
                     *       "center": "none",
                     *       "grants": [
                     *         {
                     *           "role": "developer",
                     *           "groups": [
                     *             4
                     *           ]
                     *         },
                     *         {
                     *           "role": "viewer",
                     *           "groups": null
                     *         }
                     *       ],
                     *       "createdAt": null,
                     *       "createdMs": null,
                     *       "lastLoginAt": "2026-11-21T14:32:08.000Z",
                     *       "lastLoginMs": 1795271528000,
                     *       "sessions": 1,
                     *       "version": 3
                     *     }
                     */
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 2,
                     *       "name": "dev-2",
                     *       "center": "none",
                     *       "grants": [
                     *         {
                     *           "role": "developer",
                     *           "groups": [
                     *             4
                     *           ]
                     *         },
                     *         {
                     *           "role": "viewer",
                     *           "groups": null
                     *         }
                     *       ],
                     *       "createdAt": null,
                     *       "createdMs": null,
                     *       "lastLoginAt": "2026-11-21T14:32:08.000Z",
                     *       "lastLoginMs": 1795271528000,
                     *       "sessions": 1,
                     *       "version": 3
                     *     }
                     */
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteUser: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, with sessions and tokens */
            204: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateUser: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that was read, or `*`. It goes by the version in it. An edit without it is answered 428
                 * @example "j42-17"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "grants": [
                 *         {
                 *           "role": "operator",
                 *           "groups": [
                 *             4
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["UserPatch"];
            };
        };
        responses: {
            /** @description As it is now; a new password, `center` or `grants` ends the sessions */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 2,
                     *       "name": "dev-2",
                     *       "center": "none",
                     *       "grants": [
                     *         {
                     *           "role": "developer",
                     *           "groups": [
                     *             4
                     *           ]
                     *         },
                     *         {
                     *           "role": "viewer",
                     *           "groups": null
                     *         }
                     *       ],
                     *       "createdAt": null,
                     *       "createdMs": null,
                     *       "lastLoginAt": "2026-11-21T14:32:08.000Z",
                     *       "lastLoginMs": 1795271528000,
                     *       "sessions": 1,
                     *       "version": 3
                     *     }
                     */
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            428: components["responses"]["IfMatchRequired"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
                /** @description Only these members of each item, separated by commas, such as `id,name,nextMs`; `id` always comes */
                fields?: components["parameters"]["Fields"];
                /** @description Words in names, handlers, owners, or an id */
                q?: components["parameters"]["Q"];
                /** @description Instant: RFC 3339 or epoch ms; included */
                from?: components["parameters"]["From"];
                /** @description Instant: RFC 3339 or epoch ms; not included */
                to?: components["parameters"]["To"];
                /** @description Name of a user */
                actor?: string;
                /** @description Such as job.update; `job.*` */
                action?: string;
                /** @description Such as job:42 */
                object?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest first */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 801,
                     *           "actor": {
                     *             "id": 1,
                     *             "name": "ops-1"
                     *           },
                     *           "via": "console",
                     *           "address": "10.1.2.3",
                     *           "action": "job.update",
                     *           "object": {
                     *             "kind": "job",
                     *             "id": "42",
                     *             "name": "Nightly ledger backup"
                     *           },
                     *           "changes": [
                     *             {
                     *               "field": "/schedule/conf",
                     *               "before": "0 0 2 * * ?",
                     *               "after": "0 30 2 ? * SUN-FRI"
                     *             }
                     *           ],
                     *           "items": 0,
                     *           "reason": null,
                     *           "at": "2026-11-21T14:32:08.000Z",
                     *           "ms": 1795271528000
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 1,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AuditList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAudit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entry */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 801,
                     *       "actor": {
                     *         "id": 1,
                     *         "name": "ops-1"
                     *       },
                     *       "via": "console",
                     *       "address": "10.1.2.3",
                     *       "action": "job.update",
                     *       "object": {
                     *         "kind": "job",
                     *         "id": "42",
                     *         "name": "Nightly ledger backup"
                     *       },
                     *       "changes": [
                     *         {
                     *           "field": "/schedule/conf",
                     *           "before": "0 0 2 * * ?",
                     *           "after": "0 30 2 ? * SUN-FRI"
                     *         }
                     *       ],
                     *       "items": 0,
                     *       "reason": null,
                     *       "at": "2026-11-21T14:32:08.000Z",
                     *       "ms": 1795271528000
                     *     }
                     */
                    "application/json": components["schemas"]["Audit"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getExport: {
        parameters: {
            query?: {
                /** @description Lists of the file, comma separated; absent: groups and jobs */
                include?: ("groups" | "jobs" | "users" | "channels" | "rules" | "silences")[];
                /** @description App names, comma separated: only of these groups, with rules and silences of them alone */
                apps?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "peal": 1,
                     *       "groups": [
                     *         {
                     *           "app": "ops-agent",
                     *           "title": "Operations",
                     *           "addressing": "registry"
                     *         }
                     *       ],
                     *       "users": [
                     *         {
                     *           "name": "dev-2",
                     *           "center": "none",
                     *           "grants": [
                     *             {
                     *               "role": "developer",
                     *               "groups": [
                     *                 "ops-agent"
                     *               ]
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Export"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    importFile: {
        parameters: {
            query?: {
                /** @description true: look at all rules, and change nothing */
                dryRun?: components["parameters"]["DryRun"];
                /** @description Delete jobs that the file does not have, in the groups that it has or of which it has jobs */
                prune?: boolean;
                /** @description Of new versions of scripts, and in the audit; absent: import */
                remark?: string;
            };
            header?: {
                /** @description The ETag of a dry run */
                "If-Match"?: string;
                /** @description How the body is packed; absent: it is not */
                "Content-Encoding"?: "gzip" | "identity";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "peal": 1,
                 *       "groups": [
                 *         {
                 *           "app": "ops-agent",
                 *           "title": "Operations"
                 *         }
                 *       ],
                 *       "jobs": [
                 *         {
                 *           "group": "ops-agent",
                 *           "name": "nightly",
                 *           "state": "scheduled",
                 *           "schedule": {
                 *             "type": "CRON",
                 *             "conf": "0 0 3 * * ?"
                 *           },
                 *           "task": {
                 *             "kind": "BEAN",
                 *             "handler": "backup"
                 *           }
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["Import"];
            };
        };
        responses: {
            /** @description What was done, or would be */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "dryRun": true,
                     *       "steps": [
                     *         {
                     *           "kind": "group",
                     *           "action": "make",
                     *           "group": "ops-agent",
                     *           "name": null,
                     *           "path": "/groups/0",
                     *           "changes": [],
                     *           "scheduled": false,
                     *           "firings": null
                     *         },
                     *         {
                     *           "kind": "job",
                     *           "action": "make",
                     *           "group": "ops-agent",
                     *           "name": "nightly",
                     *           "path": "/jobs/0",
                     *           "changes": [],
                     *           "scheduled": true,
                     *           "firings": {
                     *             "items": [
                     *               {
                     *                 "what": "appear",
                     *                 "ms": 1795575600000,
                     *                 "toMs": null
                     *               }
                     *             ],
                     *             "vanish": 0,
                     *             "appear": 1,
                     *             "move": 0,
                     *             "untilMs": 1795646400000
                     *           }
                     *         }
                     *       ],
                     *       "same": 0,
                     *       "left": {
                     *         "silences": 0
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ImportResult"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["Changed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["MediaType"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listNodes: {
        parameters: {
            query?: {
                /** @description Rows of a page */
                limit?: components["parameters"]["Limit"];
                /** @description Where the page before said `next` */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Servers */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": 1,
                     *           "name": "db-host-1",
                     *           "epoch": 42,
                     *           "state": "up",
                     *           "drainAsked": false,
                     *           "self": true,
                     *           "address": "10.0.3.4:8080",
                     *           "version": "1.0.0",
                     *           "protocol": 1,
                     *           "runs": 812,
                     *           "jobs": 20331,
                     *           "beatAt": "2026-11-21T14:32:08.000Z",
                     *           "beatMs": 1795271528000,
                     *           "beatAgeMs": 412,
                     *           "leased": true,
                     *           "skewMs": -3,
                     *           "startedAt": "2026-11-19T06:00:00.000Z",
                     *           "startedMs": 1795068000000
                     *         },
                     *         {
                     *           "id": 2,
                     *           "name": "db-host-2",
                     *           "epoch": 41,
                     *           "state": "dead",
                     *           "drainAsked": false,
                     *           "self": false,
                     *           "address": "10.0.3.5:8080",
                     *           "version": "1.0.0",
                     *           "protocol": 1,
                     *           "runs": 807,
                     *           "jobs": null,
                     *           "beatAt": "2026-11-19T05:59:41.000Z",
                     *           "beatMs": 1795067981000,
                     *           "beatAgeMs": 203547412,
                     *           "leased": false,
                     *           "skewMs": 1,
                     *           "startedAt": "2026-11-17T21:04:30.000Z",
                     *           "startedMs": 1794949470000
                     *         }
                     *       ],
                     *       "page": {
                     *         "next": null,
                     *         "total": {
                     *           "value": 2,
                     *           "exact": true
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["NodeList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    drainNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server, as it was at its last beat; its `state` follows within two seconds */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "db-host-1",
                     *       "epoch": 42,
                     *       "state": "up",
                     *       "drainAsked": true,
                     *       "self": true,
                     *       "address": "10.0.3.4:8080",
                     *       "version": "1.0.0",
                     *       "protocol": 1,
                     *       "runs": 812,
                     *       "jobs": 20331,
                     *       "beatAt": "2026-11-21T14:32:08.000Z",
                     *       "beatMs": 1795271528000,
                     *       "beatAgeMs": 412,
                     *       "leased": true,
                     *       "skewMs": -3,
                     *       "startedAt": "2026-11-19T06:00:00.000Z",
                     *       "startedMs": 1795068000000
                     *     }
                     */
                    "application/json": components["schemas"]["Node"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    undrainNode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id
                 * @example 42
                 */
                id: components["parameters"]["Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server, as it was at its last beat; its `state` follows within two seconds */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": 1,
                     *       "name": "db-host-1",
                     *       "epoch": 42,
                     *       "state": "draining",
                     *       "drainAsked": false,
                     *       "self": true,
                     *       "address": "10.0.3.4:8080",
                     *       "version": "1.0.0",
                     *       "protocol": 1,
                     *       "runs": 812,
                     *       "jobs": 20331,
                     *       "beatAt": "2026-11-21T14:32:08.000Z",
                     *       "beatMs": 1795271528000,
                     *       "beatAgeMs": 412,
                     *       "leased": true,
                     *       "skewMs": -3,
                     *       "startedAt": "2026-11-19T06:00:00.000Z",
                     *       "startedMs": 1795068000000
                     *     }
                     */
                    "application/json": components["schemas"]["Node"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSystem: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description State of the center */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": "1.0.0",
                     *       "revision": "1de3bb0",
                     *       "startedAt": "2026-11-21T14:32:08.000Z",
                     *       "startedMs": 1795271528000,
                     *       "ready": true,
                     *       "checks": [
                     *         {
                     *           "name": "commit",
                     *           "ok": true,
                     *           "detail": null
                     *         }
                     *       ],
                     *       "database": {
                     *         "kind": "sqlite",
                     *         "bytes": 73400320,
                     *         "walBytes": 4194304,
                     *         "logRows": 812311,
                     *         "oldestLogMs": 1792679528000
                     *       },
                     *       "limits": {
                     *         "viewers": 2000,
                     *         "viewersNow": 14
                     *       },
                     *       "zone": "Europe/Berlin",
                     *       "warnings": [
                     *         "the port is open to other machines without TLS"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["System"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Settings; secrets are not shown */
            200: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "key": "misfire.threshold",
                     *           "value": "5 s",
                     *           "origin": "default",
                     *           "secret": false,
                     *           "help": "a scheduled time older than this when it is planned is a misfire"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SettingList"];
                };
            };
            400: components["responses"]["Malformed"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOpenapi: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that one has: 304 if it still holds
                 * @example "j42-17"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "openapi": "3.1.0"
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description Unchanged */
            304: {
                headers: {
                    "Peal-Request-Id": components["headers"]["RequestId"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Malformed"];
            429: components["responses"]["TooMany"];
            503: components["responses"]["Unavailable"];
        };
    };
}
