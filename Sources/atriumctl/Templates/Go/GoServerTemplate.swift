/// What replies to calls for a plugin in Go.
enum GoServerTemplate {
    /// `atrium.go`.
    static let source = ##"""
        package main

        import (
        	"bufio"
        	"encoding/json"
        	"errors"
        	"fmt"
        	"io"
        	"log"
        	"os"
        	"strings"
        )

        // Object is the parameters of a reply, or a part of them.
        type Object map[string]any

        // Method replies to a call: it is given the parameters as JSON, and returns those of the reply, or a *Failure.
        type Method func(parameters json.RawMessage) (Object, error)

        // Methods has a method for each call that the plugin replies to, by its name.
        type Methods map[string]Method

        // On is the method of a function that is given the parameters as a struct.
        func On[Parameters any](reply func(Parameters) (Object, error)) Method {
        	return func(parameters json.RawMessage) (Object, error) {
        		var given Parameters
        		if err := json.Unmarshal(parameters, &given); err != nil {
        			return nil, err
        		}
        		return reply(given)
        	}
        }

        // Always is the method that has one reply.
        func Always(reply Object) Method {
        	return func(json.RawMessage) (Object, error) { return reply, nil }
        }

        // Failure is an error of the plugin's interface: its name, and its parameters.
        type Failure struct {
        	Name       string
        	Parameters Object
        }

        func (failure *Failure) Error() string { return fmt.Sprint(failure.Name, failure.Parameters) }

        // Refused says why a vote or a comment is not taken: a sentence for the person.
        func Refused(reason string) error {
        	return &Failure{"Refused", Object{"reason": reason}}
        }

        // SettingInvalid says why Start can't take a setting: what was expected and what was found.
        func SettingInvalid(setting, reason string) error {
        	return &Failure{"SettingInvalid", Object{"setting": setting, "reason": reason}}
        }

        // Serve replies to calls until the worker closes the socket, which is descriptor 3. Calls come one at a time, as JSON
        // and a NUL byte each; so do replies.
        func Serve(methods Methods) {
        	socket := os.NewFile(3, "the worker's socket, descriptor 3")
        	calls := bufio.NewReader(socket)
        	for {
        		call, err := calls.ReadBytes(0)
        		if errors.Is(err, io.EOF) {
        			return // The worker closed the socket.
        		}
        		if err != nil {
        			log.Fatal(err)
        		}
        		reply, err := answer(methods, call[:len(call)-1])
        		if err != nil {
        			log.Fatal(err)
        		}
        		if _, err := socket.Write(append(reply, 0)); err != nil {
        			log.Fatal(err)
        		}
        	}
        }

        func answer(methods Methods, frame []byte) ([]byte, error) {
        	var call struct {
        		Method     string
        		Parameters json.RawMessage
        	}
        	if err := json.Unmarshal(frame, &call); err != nil {
        		return nil, fmt.Errorf("a call can't be read: %w", err)
        	}
        	dot := strings.LastIndex(call.Method, ".") + 1
        	method, known := methods[call.Method[dot:]]
        	if !known {
        		unknown := Object{"method": call.Method}
        		return json.Marshal(Object{"error": "org.varlink.service.MethodNotImplemented", "parameters": unknown})
        	}
        	if call.Parameters == nil {
        		call.Parameters = json.RawMessage("{}")
        	}
        	parameters, err := method(call.Parameters)
        	var failure *Failure
        	if errors.As(err, &failure) {
        		return json.Marshal(Object{"error": call.Method[:dot] + failure.Name, "parameters": failure.Parameters})
        	}
        	if err != nil {
        		return nil, fmt.Errorf("%s: %w", call.Method, err)
        	}
        	return json.Marshal(Object{"parameters": parameters})
        }
        """##
}
