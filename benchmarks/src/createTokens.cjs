// Prints a base64 SPNEGO token for HTTP/localhost with each ticket cache in the
// arguments. A separate program, because the Kerberos library reads the name of
// the cache from the environment of the process.

const { GSS_MECH_OID_SPNEGO, initializeClient } = require('kerberos');

async function main() {
  for (const cache of process.argv.slice(2)) {
    process.env.KRB5CCNAME = cache;
    const client = await initializeClient('HTTP@localhost', {
      mechOID: GSS_MECH_OID_SPNEGO,
    });
    process.stdout.write(`${await client.step('')}\n`);
  }
}

main();
