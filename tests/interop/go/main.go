/* SPDX-License-Identifier: Apache-2.0 */

/*
An executor on the Go library xxl-job-executor-go, with the handlers that all executors of the interop
suite have. Everything on the wire is the library's; this file is a user of it. A handler of this library
cannot report a failure: what it returns is a success, and only a panic is not.
*/
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	xxl "github.com/xxl-job/xxl-job-executor-go"
)

type line struct {
	Event   string `json:"event"`
	Handler string `json:"handler"`
	LogID   int64  `json:"logId"`
	JobID   int64  `json:"jobId"`
	Length  int    `json:"length"`
	Sha256  string `json:"sha256"`
	Shard   int64  `json:"shard"`
	Total   int64  `json:"total"`
	Ms      int64  `json:"ms"`
	Pid     int    `json:"pid"`
}

/* trace writes what really ran, one line at the start and one at the end, for the tests to count. */
type trace struct {
	mu   sync.Mutex
	file *os.File
}

func (t *trace) write(event, handler string, p xxl.RunReq) {
	text, err := json.Marshal(line{event, handler, p.LogID, p.JobID, len(p.ExecutorParams),
		digest(p.ExecutorParams), p.BroadcastIndex, p.BroadcastTotal, time.Now().UnixMilli(), os.Getpid()})
	if err != nil {
		log.Fatal(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.file.Write(append(text, '\n')); err != nil {
		log.Fatal("cannot write the trace: ", err)
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

type body func(ctx context.Context, p xxl.RunReq) string

var bodies = map[string]body{
	"demoJobHandler": func(ctx context.Context, p xxl.RunReq) string {
		return fmt.Sprintf("length=%d sha256=%s", len(p.ExecutorParams), digest(p.ExecutorParams))
	},
	"shardJobHandler": func(ctx context.Context, p xxl.RunReq) string {
		return fmt.Sprintf("shard=%d/%d", p.BroadcastIndex, p.BroadcastTotal)
	},
	"msgJobHandler": func(ctx context.Context, p xxl.RunReq) string {
		return "said \"quoted\" <b>&'= 中文 é 😀 \\ end"
	},
	"failJobHandler": func(ctx context.Context, p xxl.RunReq) string {
		return "failed on purpose: 失败 <i>\"x\"</i>"
	},
	"throwJobHandler": func(ctx context.Context, p xxl.RunReq) string {
		panic("thrown on purpose")
	},
	"sleepJobHandler": func(ctx context.Context, p xxl.RunReq) string {
		ms, err := strconv.Atoi(p.ExecutorParams)
		if err != nil {
			panic(err)
		}
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
			return "slept " + p.ExecutorParams
		case <-ctx.Done():
			/* A real handler needs a moment to wind down. By then a covering run has taken over the one
			 * record that the library keeps a handler, and this result goes out under its log id. */
			time.Sleep(50 * time.Millisecond)
			return "cancelled"
		}
	},
}

func handler(name string, b body, t *trace) xxl.TaskFunc {
	return func(ctx context.Context, p *xxl.RunReq) string {
		run := *p
		event := "end"
		t.write("start", name, run)
		defer func() { t.write(event, name, run) }()
		result := b(ctx, run)
		if result == "cancelled" {
			event = "interrupted"
		}
		return result
	}
}

func main() {
	admin := flag.String("admin", "", "the center's address")
	app := flag.String("app", "", "the app name to register under")
	port := flag.String("port", "", "the port to listen on")
	token := flag.String("token", "", "the access token")
	traceFile := flag.String("trace", "", "the file to write executions to")
	flag.String("log-dir", "", "taken like the others take it; this library keeps no log files")
	flag.Parse()

	file, err := os.OpenFile(*traceFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal("cannot open the trace: ", err)
	}
	executor := xxl.NewExecutor(xxl.ServerAddr(*admin), xxl.AccessToken(*token), xxl.ExecutorIp("127.0.0.1"),
		xxl.ExecutorPort(*port), xxl.RegistryKey(*app))
	executor.Init()
	t := &trace{file: file}
	for name, b := range bodies {
		executor.RegTask(name, handler(name, b, t))
	}
	go announce(*port)
	/* Run listens, returns on SIGTERM, and has then deregistered. */
	if err := executor.Run(); err != nil {
		log.Fatal(err)
	}
}

/* announce says READY on standard output once the library's server accepts connections. */
func announce(port string) {
	for {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			conn.Close()
			break
		}
		time.Sleep(20 * time.Millisecond) /* the library has no call to ask */
	}
	fmt.Println("READY")
}
