# Functions of directory-certmonger and directory-renew-certificate, for a POSIX
# shell with curl, openssl and awk.
#
# Variables of the caller: $url (base URL of the portal), $ca_file (CA of the
# portal's TLS certificate, or empty), $work (private folder for temporary
# files). The caller defines refuse, retry and misconfigure, which print a
# message and exit; retry has the number of seconds as a second argument.

# Splits an option of the form --name=value into $option and $value.
split_option() {
  case $1 in
  --*=*) option=${1%%=*} value=${1#*=} ;;
  *) misconfigure "$1: options must have the form --name=value" ;;
  esac
}

# Rejects a URL whose responses could be forged.
require_safe_url() {
  case $url in
  https://*) return ;;
  http://*) ;;
  *) misconfigure '--url: the base URL of the portal must begin with https://' ;;
  esac
  authority=${url#http://}
  authority=${authority%%/*}
  case $authority in
  localhost | 127.0.0.1 | '[::1]') return ;;
  localhost:*[!0-9]* | 127.0.0.1:*[!0-9]* | '[::1]:'*[!0-9]*) ;;
  localhost:* | 127.0.0.1:* | '[::1]:'*) return ;;
  esac
  misconfigure '--url: http is accepted only for localhost: use https'
}

# Sends a request to the API and saves the response body to $work/body.
#   request PATH [CURL-OPTION…]
request() {
  path=$1
  shift
  # Removes the headers of an earlier response.
  : >"$work/headers"
  [ -z "$ca_file" ] || set -- --cacert "$ca_file" "$@"
  if ! status=$(curl --silent --show-error --max-time 120 \
    --proto '=http,https' --output "$work/body" --dump-header "$work/headers" \
    --write-out '%{http_code}' --header 'Accept: application/json' "$@" \
    "$url/api/directory/v1$path" 2>"$work/error"); then
    retry "$url is not reachable: $(tr '\n' ' ' <"$work/error")"
  fi
  case $status in
  200) ;;
  400 | 403 | 404 | 413) refuse "$(message_of_response)" ;;
  *) retry "$(message_of_response)" "$(retry_after)" ;;
  esac
}

# Prints the delay in seconds that the portal sends (Retry-After).
retry_after() {
  sed -n 's/^[Rr]etry-[Aa]fter: *\([0-9][0-9]*\).*/\1/p' "$work/headers" | tail -n 1
}

# Prints the status and message of an error response on one line.
message_of_response() {
  text=$(tr '\n' ' ' <"$work/body" |
    sed -n 's/^.*"message": *"\(\([^"\\]*\(\\.\)*\)*\)".*$/\1/p' | sed 's/\\"/"/g')
  printf '%s: %s\n' "$status" "${text:-the response of $url has no message}"
}

# Prints the value of a text field in $work/body.
text_field() {
  sed -n 's/^.*"'"$1"'": *"\([^"\\]*\)".*$/\1/p' "$work/body" | head -n 1
}

# Prints the certificates of a response, leaf first, in PEM.
certificates_of_response() {
  tr -d ' \n' <"$work/body" |
    sed -n 's/^.*"certificate_chain":\[\([^]]*\)\].*$/\1/p' | tr ',' '\n' |
    tr -d '"' | while read -r der || [ -n "$der" ]; do
    echo '-----BEGIN CERTIFICATE-----'
    printf '%s\n' "$der" | fold -w 64
    echo '-----END CERTIFICATE-----'
  done
}

# Prints the serial number of a certificate, which can have 160 bits, in decimal.
serial_number() {
  openssl x509 -in "$1" -noout -serial | awk -F = '{
    n = 1
    digits[1] = 0
    for (i = 1; i <= length($2); i++) {
      carry = index("0123456789ABCDEF", substr($2, i, 1)) - 1
      for (j = 1; j <= n; j++) {
        carry += digits[j] * 16
        digits[j] = carry % 10
        carry = int(carry / 10)
      }
      for (; carry; carry = int(carry / 10)) {
        digits[++n] = carry % 10
      }
    }
    while (n) {
      printf "%d", digits[n--]
    }
  }'
}

# Prints the public key of a certificate or of a private key, in PEM.
public_key_of_certificate() {
  openssl x509 -in "$1" -noout -pubkey
}
public_key_of_key() {
  # Without a terminal, openssl would wait for a passphrase.
  openssl pkey -in "$1" -passin pass: -pubout 2>/dev/null
}

# Prints the type of a private key: ED25519, EC with the name of the curve, or
# RSA with the number of bits.
key_type() {
  openssl pkey -in "$1" -passin pass: -noout -text 2>/dev/null | sed -n '
    s/^ED25519 Private-Key.*/ED25519/p
    s/^ASN1 OID: */EC /p
    s/^.*Private-Key: (\([0-9]*\) bit, .* primes).*/RSA \1/p'
}

# Renews a certificate by proof of its key, without a ticket.
#   renew_by_key CERTIFICATE KEY CSR
renew_by_key() {
  serial=$(serial_number "$1")
  openssl req -in "$3" -outform DER -out "$work/csr.der"
  digest=$(openssl dgst -sha256 -r "$work/csr.der")
  key_type=$(key_type "$2")
  # The nonce expires after five minutes.
  request "/certs/$serial/renewal/nonce/" --request POST
  nonce=$(text_field nonce)
  printf 'directory-gateway renewal\n%s\n%s' "$nonce" "${digest%% *}" >"$work/proof"
  # Ed25519 signs the text itself (RFC 8032); other keys sign its digest.
  if [ "$key_type" = ED25519 ]; then
    openssl pkeyutl -sign -rawin -inkey "$2" -in "$work/proof" -out "$work/signature"
  else
    openssl dgst -sha256 -sign "$2" -out "$work/signature" "$work/proof"
  fi
  request "/certs/$serial/renewal/" \
    --header 'X-Fields: certificate_chain' \
    --data-urlencode "csr@$3" --data-urlencode "nonce=$nonce" \
    --data-urlencode "signature=$(openssl base64 -A -in "$work/signature")"
}
