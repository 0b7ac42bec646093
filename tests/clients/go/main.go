// Plays conformance sessions against a sidecar with github.com/sourcegraph/jsonrpc2.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

const timeout = 20 * time.Second

type object = map[string]any

type header struct {
	Session   string
	Lifecycle string
	Clients   []string
	Needs     []string
}

type step struct {
	Client     string
	Send       json.RawMessage
	Expect     object
	ExpectNone string `json:"expectNone"`
	Kill       any
}

type pipe struct {
	io.ReadCloser
	io.WriteCloser
}

func (p pipe) Close() error { p.WriteCloser.Close(); return p.ReadCloser.Close() }

// sidecar is a process; requests are answered by the session's ids, notifications are kept in order.
type sidecar struct {
	command *exec.Cmd
	conn    *jsonrpc2.Conn
	replies map[string]chan object

	mutex         sync.Mutex
	notifications []object
	arrived       chan struct{}
}

func start(store string) (*sidecar, error) {
	var command []string
	if err := json.Unmarshal([]byte(os.Getenv("SIDECAR_COMMAND")), &command); err != nil {
		return nil, err
	}
	s := &sidecar{replies: map[string]chan object{}, arrived: make(chan struct{}, 1024)}
	s.command = exec.Command(command[0], append(command[1:], "--store", store)...)
	s.command.Stderr = os.Stderr
	in, err := s.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	handler := jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
		if !r.Notif {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: r.Method}
		}
		note := object{"jsonrpc": "2.0", "method": r.Method, "params": nil}
		if r.Params != nil {
			note["params"] = decode(*r.Params)
		}
		s.mutex.Lock()
		s.notifications = append(s.notifications, note)
		s.mutex.Unlock()
		s.arrived <- struct{}{}
		return nil, nil
	})
	stream := jsonrpc2.NewBufferedStream(pipe{out, in}, jsonrpc2.VSCodeObjectCodec{})
	s.conn = jsonrpc2.NewConn(context.Background(), stream, handler)
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := s.conn.Call(ctx, "initialize", object{"processId": os.Getpid(), "capabilities": object{}}, nil); err != nil {
		return nil, err
	}
	return s, s.conn.Notify(ctx, "initialized", object{})
}

// send passes params on as they are written where nothing is to be put in: a map would lose the order of keys.
func (s *sidecar) send(text json.RawMessage, names object) error {
	var raw struct{ Params json.RawMessage }
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	message := substituted(decode(text), names).(object)
	method, params := message["method"].(string), message["params"]
	if raw.Params != nil && !bytes.Contains(raw.Params, []byte(`"$ref"`)) {
		params = raw.Params
	}
	ctx := context.Background()
	id, isRequest := message["id"]
	if !isRequest {
		return s.conn.Notify(ctx, method, params)
	}
	call, err := s.conn.DispatchCall(ctx, method, params)
	if err != nil {
		return err
	}
	answered := make(chan object, 1)
	s.replies[key(id)] = answered
	go func() {
		var result json.RawMessage
		err := call.Wait(ctx, &result)
		var refused *jsonrpc2.Error
		switch {
		case err == nil:
			answered <- object{"id": id, "result": decode(result)}
		case errors.As(err, &refused):
			e := object{"code": json.Number(fmt.Sprint(refused.Code)), "message": refused.Message, "data": nil}
			if refused.Data != nil {
				e["data"] = decode(*refused.Data)
			}
			answered <- object{"id": id, "error": e}
		default:
			answered <- object{"id": id, "lost": err.Error()}
		}
	}()
	return nil
}

func (s *sidecar) reply(id any) (object, error) {
	answered, found := s.replies[key(id)]
	if !found {
		return nil, fmt.Errorf("nothing was sent with id %v", id)
	}
	select {
	case message := <-answered:
		return message, nil
	case <-time.After(timeout):
		return nil, errors.New("no answer in time")
	}
}

func (s *sidecar) notification(method string) (object, error) {
	for {
		s.mutex.Lock()
		for i, note := range s.notifications {
			if note["method"] == method {
				s.notifications = append(s.notifications[:i:i], s.notifications[i+1:]...)
				s.mutex.Unlock()
				return note, nil
			}
		}
		s.mutex.Unlock()
		select {
		case <-s.arrived:
		case <-time.After(timeout):
			return nil, fmt.Errorf("no %s in time", method)
		}
	}
}

func (s *sidecar) shutDown() error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := s.conn.Call(ctx, "shutdown", nil, nil); err != nil {
		return err
	}
	if err := s.conn.Notify(ctx, "exit", nil); err != nil {
		return err
	}
	return s.command.Wait()
}

func (s *sidecar) kill() {
	if s.command.ProcessState == nil {
		s.command.Process.Kill()
		s.command.Wait()
	}
	s.conn.Close()
}

func key(id any) string { text, _ := json.Marshal(id); return string(text) }

// decode keeps numbers as they are written, so that 1 and 1.0 stay different.
func decode(text []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		panic(err)
	}
	return value
}

var kinds = map[string]func(any) bool{
	"any":     func(any) bool { return true },
	"null":    func(v any) bool { return v == nil },
	"boolean": func(v any) bool { _, ok := v.(bool); return ok },
	"integer": func(v any) bool { n, ok := v.(json.Number); return ok && !strings.ContainsAny(string(n), ".eE") },
	"number":  func(v any) bool { _, ok := v.(json.Number); return ok },
	"string":  func(v any) bool { _, ok := v.(string); return ok },
	"array":   func(v any) bool { _, ok := v.([]any); return ok },
	"object":  func(v any) bool { _, ok := v.(object); return ok },
}

func need(fine bool, path, what string, value any) error {
	if fine {
		return nil
	}
	shown, _ := json.Marshal(value)
	return fmt.Errorf("%s should be %s, is %.300s", path, what, shown)
}

func match(expected, value any, names object, path string, exact bool) error {
	switch expected := expected.(type) {
	case object:
		if !exact && isSpecial(expected) {
			return special(expected, value, names, path)
		}
		found, ok := value.(object)
		if !ok {
			return need(false, path, "an object", value)
		}
		for name, part := range expected {
			member, present := found[name]
			if !exact && reflect.DeepEqual(part, object{"$absent": true}) {
				if present {
					return need(false, path, "without "+name, value)
				}
				continue
			}
			if !present {
				return need(false, path, "with "+name, value)
			}
			if err := match(part, member, names, path+"/"+name, exact); err != nil {
				return err
			}
		}
		return need(!exact || len(found) == len(expected), path, "nothing more", value)
	case []any:
		found, ok := value.([]any)
		if !ok || len(found) != len(expected) {
			return need(false, path, fmt.Sprintf("%d items", len(expected)), value)
		}
		for i, part := range expected {
			if err := match(part, found[i], names, fmt.Sprintf("%s/%d", path, i), exact); err != nil {
				return err
			}
		}
		return nil
	}
	return need(reflect.DeepEqual(expected, value), path, fmt.Sprint(expected), value)
}

func isSpecial(expected object) bool {
	for name := range expected {
		if strings.HasPrefix(name, "$") {
			return true
		}
	}
	return false
}

func special(expected object, value any, names object, path string) error {
	if wanted, found := expected["$any"]; found {
		list, isList := wanted.([]any)
		if !isList {
			list = []any{wanted}
		}
		fine := false
		for _, kind := range list {
			fine = fine || kinds[kind.(string)](value)
		}
		if err := need(fine, path, fmt.Sprint(list), value); err != nil {
			return err
		}
	}
	if name, found := expected["$bind"]; found {
		names[name.(string)] = value
	}
	if name, found := expected["$ref"]; found {
		if err := match(names[name.(string)], value, names, path, true); err != nil {
			return err
		}
	}
	if part, found := expected["$exact"]; found {
		if err := match(part, value, names, path, true); err != nil {
			return err
		}
	}
	parts, _ := expected["$contains"].([]any)
	for _, part := range parts {
		items, _ := value.([]any)
		fine := false
		for _, item := range items {
			fine = fine || match(part, item, names, "", false) == nil
		}
		if err := need(fine, path, fmt.Sprintf("with %v", part), value); err != nil {
			return err
		}
	}
	return nil
}

func substituted(value any, names object) any {
	switch value := value.(type) {
	case object:
		if name, found := value["$ref"]; found {
			return names[name.(string)]
		}
		out := object{}
		for k, v := range value {
			out[k] = substituted(v, names)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = substituted(v, names)
		}
		return out
	}
	return value
}

func play(h header, steps []step, folder string) error {
	store, names, clients := filepath.Join(folder, "store.db"), object{}, map[string]*sidecar{}
	defer func() {
		for _, client := range clients {
			client.kill()
		}
	}()
	spawn := func(name string) (err error) { clients[name], err = start(store); return }
	if len(h.Clients) == 0 {
		h.Clients = []string{"a"}
	}
	for _, name := range h.Clients {
		if err := spawn(name); err != nil {
			return err
		}
	}
	for number, each := range steps {
		if each.Client == "" {
			each.Client = "a"
		}
		if err := take(each, clients, names, spawn); err != nil {
			return fmt.Errorf("line %d: %w", number+2, err)
		}
	}
	for _, client := range clients {
		if err := client.shutDown(); err != nil {
			return err
		}
	}
	return nil
}

func take(each step, clients map[string]*sidecar, names object, spawn func(string) error) error {
	client := clients[each.Client]
	switch {
	case each.Send != nil:
		return client.send(each.Send, names)
	case each.Expect != nil:
		var message object
		var err error
		if method, found := each.Expect["method"]; found {
			message, err = client.notification(method.(string))
		} else {
			message, err = client.reply(each.Expect["id"])
		}
		if err != nil {
			return err
		}
		return match(each.Expect, message, names, "", false)
	case each.ExpectNone != "":
		client.mutex.Lock()
		defer client.mutex.Unlock()
		for _, note := range client.notifications {
			if note["method"] == each.ExpectNone {
				return fmt.Errorf("an unexpected %s", each.ExpectNone)
			}
		}
	case each.Kill != nil:
		client.kill()
		return spawn(each.Client)
	}
	return nil
}

func main() {
	passed, failed, skipped := 0, 0, 0
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		var h header
		if err := json.Unmarshal(lines[0], &h); err != nil {
			panic(err)
		}
		why := ""
		if h.Lifecycle == "raw" {
			why = "raw frames"
		}
		for _, need := range h.Needs {
			if need == "loneSurrogates" { // encoding/json puts U+FFFD in their place
				why = need
			}
		}
		if why != "" {
			skipped++
			fmt.Printf("skip %s: %s\n", h.Session, why)
			continue
		}
		steps := make([]step, len(lines)-1)
		for i, line := range lines[1:] {
			decoder := json.NewDecoder(bytes.NewReader(line))
			decoder.UseNumber()
			if err := decoder.Decode(&steps[i]); err != nil {
				panic(err)
			}
		}
		folder, err := os.MkdirTemp("", "sidecar-")
		if err != nil {
			panic(err)
		}
		if err := play(h, steps, folder); err != nil {
			failed++
			fmt.Printf("not ok %s: %v\n", h.Session, err)
		} else {
			passed++
			fmt.Printf("ok %s\n", h.Session)
		}
		os.RemoveAll(folder)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 {
		os.Exit(1)
	}
}
