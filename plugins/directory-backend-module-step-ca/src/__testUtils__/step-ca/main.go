// Runs step-ca, or lists the serial numbers in its database while it is stopped.
//
//	step-ca ca.json
//	step-ca ca.json x509_certs
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/smallstep/certificates/authority/config"
	"github.com/smallstep/certificates/ca"
	"github.com/smallstep/nosql"
)

func main() {
	settings, err := config.LoadConfiguration(os.Args[1])
	if err == nil && len(os.Args) > 2 {
		err = list(settings, os.Args[2])
	} else if err == nil {
		err = run(settings)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(settings *config.Config) error {
	server, err := ca.New(settings)
	if err != nil {
		return err
	}
	go ca.StopReloaderHandler(server)
	return server.Run()
}

func list(settings *config.Config, table string) error {
	db, err := nosql.New(settings.DB.Type, settings.DB.DataSource)
	if err != nil {
		return err
	}
	defer db.Close()
	entries, err := db.List([]byte(table))
	for _, entry := range entries {
		fmt.Println(string(entry.Key))
	}
	return err
}
