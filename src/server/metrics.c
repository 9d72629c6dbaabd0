/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms are counters between fixed bounds. Reading them is one pass of relaxed loads; a page
 * may be some microseconds older in one line than in another. */
#include "server/metrics.h"
#include "base/clock.h"
#include "base/mem.h"
#include <string.h>

#define relaxed memory_order_relaxed

/* Fine where lateness is judged (1 to 5 ms), coarse at the ends. */
static const uint32_t bounds_us[HISTOGRAM_BUCKETS - 1] = {
    100,  200,  300,   500,   700,   1000,   1500,   2000,    2500,    3000,     4000,
    5000, 7000, 10000, 20000, 50000, 100000, 250000, 1000000, 5000000, 60000000,
};

void histogram_add(struct histogram *h, int64_t us)
{
    uint64_t v = us > 0 ? (uint64_t)us : 0;
    int i = 0;
    while (i < HISTOGRAM_BUCKETS - 1 && v > bounds_us[i])
        i++;
    atomic_fetch_add_explicit(&h->bucket[i], 1, relaxed);
    atomic_fetch_add_explicit(&h->sum_us, v, relaxed);
    if (v > atomic_load_explicit(&h->max_us, relaxed)) /* one writer each */
        atomic_store_explicit(&h->max_us, v, relaxed);
}

void histogram_read(const struct histogram *h, uint64_t counts[HISTOGRAM_BUCKETS])
{
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        counts[i] = atomic_load_explicit(&h->bucket[i], relaxed);
}

double histogram_at(const uint64_t counts[HISTOGRAM_BUCKETS], int per_mille)
{
    uint64_t all = 0, below = 0;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        all += counts[i];
    double wanted = (double)all * per_mille / 1000;
    for (int i = 0; all && i < HISTOGRAM_BUCKETS; i++) {
        double from = i ? bounds_us[i - 1] : 0;
        double to = i < HISTOGRAM_BUCKETS - 1 ? bounds_us[i] : from;
        if (counts[i] && (double)(below + counts[i]) >= wanted)
            return (from + (to - from) * (wanted - (double)below) / (double)counts[i]) / 1000;
        below += counts[i];
    }
    return -1;
}

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void gauge(struct buf *out, const char *name, const char *help, double value)
{
    head(out, name, "gauge", help);
    buf_printf(out, "%s %.17g\n", name, value);
}

static void counter(struct buf *out, const char *name, const char *help, uint64_t value)
{
    head(out, name, "counter", help);
    buf_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

/* label: "" or "phase=\"x\"," (with its comma). */
static void histogram_write(struct histogram *h, const char *name, const char *label,
                            struct buf *out)
{
    uint64_t sum = 0;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        sum += atomic_load_explicit(&h->bucket[i], relaxed);
        if (i < HISTOGRAM_BUCKETS - 1)
            buf_printf(out, "%s_bucket{%sle=\"%g\"} %llu\n", name, label,
                       (double)bounds_us[i] / 1e6, (unsigned long long)sum);
    }
    int n = 0;
    while (label[n] && label[n + 1])
        n++; /* the label without its comma */
    buf_printf(out, "%s_bucket{%sle=\"+Inf\"} %llu\n", name, label, (unsigned long long)sum);
    const char *open = n ? "{" : "", *close = n ? "}" : "";
    buf_printf(out, "%s_sum%s%.*s%s %g\n", name, open, n, label, close,
               (double)atomic_load_explicit(&h->sum_us, relaxed) / 1e6);
    buf_printf(out, "%s_count%s%.*s%s %llu\n", name, open, n, label, close,
               (unsigned long long)sum);
}

static double get(_Atomic int64_t *v)
{
    return (double)atomic_load_explicit(v, relaxed);
}

static void totals_write(const struct totals *totals, struct buf *out)
{
    head(out, "peal_firings_total", "counter", "Firings by what became of them, as on disk.");
    for (int i = 0; i < TOTAL_COUNT; i++)
        buf_printf(out, "peal_firings_total{outcome=\"%s\"} %lld\n", total_name((enum total)i),
                   (long long)totals->n[i]);
}

static void queues_write(struct metrics *m, struct buf *out)
{
    const struct {
        const char *name;
        _Atomic int64_t *value;
    } queues[] = {
        { "planned", &m->queue_planned }, { "lanes", &m->queue_lanes },
        { "writer", &m->queue_writer },   { "in_flight", &m->in_flight },
        { "in_doubt", &m->in_doubt },     { "accepted", &m->accepted },
    };
    head(out, "peal_queue_length", "gauge", "Runs or changes that wait, by where.");
    for (size_t i = 0; i < countof(queues); i++)
        buf_printf(out, "peal_queue_length{queue=\"%s\"} %g\n", queues[i].name,
                   get(queues[i].value));
}

static void log_gone_write(struct metrics *m, struct buf *out)
{
    static const char *const whys[GONE_COUNT] = { "request", "age", "rows" };
    head(out, "peal_log_rows_deleted_total", "counter",
         "Log rows deleted: on request, by age, by number of a job's rows.");
    for (int i = 0; i < GONE_COUNT; i++)
        buf_printf(out, "peal_log_rows_deleted_total{why=\"%s\"} %lld\n", whys[i],
                   (long long)atomic_load_explicit(&m->log_gone[i], relaxed));
}

struct metric_channel *metric_channel(struct metrics *m, const char *name)
{
    struct metric_channel *c = m->channels;
    while (c < m->channels + METRIC_CHANNELS - 1 && c->name && strcmp(c->name, name) != 0)
        c++;
    c->name = name;
    return c;
}

static void channels_write(struct metrics *m, struct buf *out)
{
    static const char *const results[] = { [DELIVERY_SENT] = "sent",
                                           [DELIVERY_AGAIN] = "failed",
                                           [DELIVERY_NEVER] = "given_up",
                                           [DELIVERY_HELD] = "held" };
    head(out, "peal_alarms_total", "counter",
         "Tries to send an alarm to one target, by what they came to.");
    for (int i = 0; i < METRIC_CHANNELS && m->channels[i].name; i++)
        for (size_t k = 0; k < countof(results); k++)
            buf_printf(
                out, "peal_alarms_total{channel=\"%s\",result=\"%s\"} %llu\n", m->channels[i].name,
                results[k],
                (unsigned long long)atomic_load_explicit(&m->channels[i].outcomes[k], relaxed));
}

static void backups_write(struct metrics *m, struct buf *out)
{
    if (get(&m->backup_every_ms) == 0)
        return;
    gauge(out, "peal_backup_last_success_timestamp_seconds",
          "When the last backup that is good was made, epoch seconds. 0: there is none.",
          get(&m->backup_ms) / 1000);
    counter(out, "peal_backup_errors_total", "Backups that could not be made.",
            atomic_load_explicit(&m->backup_errors, relaxed));
}

void metrics_label(struct buf *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\n')
            buf_text(out, "\\n");
        else if (*p == '"' || *p == '\\')
            buf_printf(out, "\\%c", *p);
        else
            buf_char(out, *p);
    }
}

static void node_write(struct metrics *m, struct buf *out)
{
    if (m->node.name) {
        head(out, "peal_node_info", "gauge", "This server among those of its database.");
        buf_printf(out, "peal_node_info{node=\"%lld\",epoch=\"%lld\",name=\"",
                   (long long)m->node.node, (long long)m->node.epoch);
        metrics_label(out, m->node.name);
        buf_text(out, "\"} 1\n");
    }
    if (get(&m->db_server) == 0)
        return;
    counter(out, "peal_node_beats_total", "Beats that the database took.",
            atomic_load_explicit(&m->beats, relaxed));
    counter(out, "peal_node_beat_errors_total",
            "Beats that it did not take, or of which no answer came.",
            atomic_load_explicit(&m->beat_errors, relaxed));
    gauge(out, "peal_node_beat_seconds", "Round trip of the last beat that it took.",
          get(&m->beat_us) / 1e6);
    if (get(&m->shared) == 0)
        return;
    if (get(&m->jobs) >= 0)
        gauge(out, "peal_node_jobs",
              "Jobs with a next scheduled time that this server plans; counted each half minute.",
              (double)get(&m->jobs));
    counter(out, "peal_node_results_given_total",
            "Results that came here and were left for the servers whose runs they end.",
            atomic_load_explicit(&m->inbox_given, relaxed));
    counter(out, "peal_node_results_taken_total",
            "Results that had come to other servers and were dealt with here.",
            atomic_load_explicit(&m->inbox_taken, relaxed));
    counter(out, "peal_node_results_forwarded_total",
            "Results that came here and were brought to the servers whose runs they end.",
            atomic_load_explicit(&m->forwarded, relaxed));
    counter(out, "peal_node_results_received_total",
            "Results that other servers have brought, of runs that are here.",
            atomic_load_explicit(&m->received, relaxed));
    counter(out, "peal_node_calls_failed_total",
            "Calls to other servers that were not answered: what was for them went through the "
            "database.",
            atomic_load_explicit(&m->peer_failures, relaxed));
    counter(out, "peal_node_calls_refused_total",
            "Calls to /peal/node/ that were not one of another server's to this life.",
            atomic_load_explicit(&m->peer_refused, relaxed));
    counter(out, "peal_node_looks_asked_total",
            "How often other servers have said that the database has something new.",
            atomic_load_explicit(&m->peer_looks, relaxed));
    counter(out, "peal_node_looks_made_total",
            "Looks at the database that this server has made because others have said so.",
            atomic_load_explicit(&m->node_looks, relaxed));
}

static void database_write(struct metrics *m, struct buf *out)
{
    if (get(&m->db_server) == 0)
        return;
    counter(out, "peal_database_conflicts_total",
            "Transactions that met another one and were repeated.",
            atomic_load_explicit(&m->db_conflicts, relaxed));
    counter(out, "peal_database_unheard_total",
            "Commits whose answer got lost, or questions what became of one.",
            atomic_load_explicit(&m->db_unheard, relaxed));
    counter(
        out, "peal_database_lost_commits_total",
        "Commits that the database had acknowledged and does not have, as the server's last life "
        "found when it ended for that, or this one has.",
        atomic_load_explicit(&m->db_lost, relaxed));
    gauge(out, "peal_database_clock_skew_seconds", "The database's clock minus this machine's.",
          get(&m->db_skew_ms) / 1000);
    gauge(out, "peal_database_beat_timestamp_seconds",
          "When the database last took this server's beat, epoch seconds.",
          get(&m->db_beat_ms) / 1000);
}

void metrics_write(struct metrics *m, const struct totals *totals, int64_t unaccounted,
                   struct buf *out)
{
    static const char *const phases[METRIC_PHASES] = { "answer", "run", "commit", "plan" };
    int64_t now = clock_wall_ms();
    head(out, "peal_build_info", "gauge", "Version of this program.");
    buf_printf(out, "peal_build_info{version=\"%s\"} 1\n", PEAL_VERSION);
    gauge(out, "peal_start_time_seconds", "When this process began, epoch seconds.",
          (double)m->started_ms / 1000);
    totals_write(totals, out);
    gauge(out, "peal_firings_unaccounted",
          "Planned firings of which the tables say nothing. Not 0: a bug, please report it.",
          (double)unaccounted);
    head(out, "peal_lateness_seconds", "histogram", "The send minus the scheduled time.");
    histogram_write(&m->lateness, "peal_lateness_seconds", "", out);
    gauge(out, "peal_lateness_max_seconds", "The latest send since this process began.",
          (double)atomic_load_explicit(&m->lateness.max_us, relaxed) / 1e6);
    head(out, "peal_phase_seconds", "histogram",
         "Sent to answered, answered to finished, one commit, one planning slice.");
    for (int i = 0; i < METRIC_PHASES; i++) {
        char label[40];
        struct buf b = BUF_INIT(39);
        buf_printf(&b, "phase=\"%s\",", phases[i]);
        text_copy(label, sizeof(label), slice_of(b.data, b.len));
        buf_done(&b);
        histogram_write(&m->phase[i], "peal_phase_seconds", label, out);
    }
    queues_write(m, out);
    gauge(out, "peal_horizon_seconds", "How far ahead of now everything is planned.",
          (double)(atomic_load_explicit(&m->horizon_ms, relaxed) - now) / 1000);
    gauge(out, "peal_executors", "Addresses that runs are sent to.", get(&m->addresses));
    gauge(out, "peal_executors_dead", "Of these, addresses that refuse connections.",
          get(&m->dead));
    gauge(out, "peal_recorder", "1: a flight recorder knows what is out if this process is killed.",
          get(&m->recorded));
    gauge(out, "peal_recorder_words", "Runs that are out by the flight recorder.",
          get(&m->recorder_words));
    gauge(out, "peal_recorder_without_word",
          "Runs that are out and found no room in it: not 0, and a kill is as without one.",
          get(&m->recorder_without));
    counter(out, "peal_recorder_wrong_total",
            "Results of runs that it had called unsent. Not 0: a bug, please report it.",
            atomic_load_explicit(&m->recorder_wrong, relaxed));
    counter(out, "peal_planned_jobs_total", "Due jobs that planning has looked at.",
            (uint64_t)atomic_load_explicit(&m->planned_jobs, relaxed));
    counter(out, "peal_commits_total", "Transactions committed by the writer.",
            atomic_load_explicit(&m->batches, relaxed));
    counter(out, "peal_commit_errors_total", "Transactions that failed and were tried again.",
            atomic_load_explicit(&m->batch_errors, relaxed));
    counter(out, "peal_values_refused_total",
            "Writes that were left out because the database does not take their values.",
            atomic_load_explicit(&m->refused, relaxed));
    counter(out, "peal_callbacks_total", "Results that executors have sent.",
            atomic_load_explicit(&m->callbacks, relaxed));
    counter(out, "peal_callbacks_foreign_total",
            "Results that were left out: of older runs that had the same log ids.",
            atomic_load_explicit(&m->callbacks_foreign, relaxed));
    counter(out, "peal_results_refused_total",
            "Results for which there was no room; their executors send them again.",
            atomic_load_explicit(&m->results_refused, relaxed));
    gauge(out, "peal_journal_records", "Results in the journal, until the database has them.",
          get(&m->journal_records));
    counter(out, "peal_journal_full_total", "Callbacks for which the journal had no room.",
            atomic_load_explicit(&m->journal_full, relaxed));
    counter(out, "peal_journal_errors_total", "Writes to the journal that failed.",
            atomic_load_explicit(&m->journal_errors, relaxed));
    log_gone_write(m, out);
    channels_write(m, out);
    backups_write(m, out);
    database_write(m, out);
    node_write(m, out);
    counter(out, "peal_http_requests_total", "Requests answered.",
            atomic_load_explicit(&m->http_requests, relaxed));
}
