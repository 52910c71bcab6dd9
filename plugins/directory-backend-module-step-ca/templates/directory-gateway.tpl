{{- /*
Certificates of the directory gateway. Everything comes from the signed token
and from `templateData` in ca.json; the CSR contributes only its key.
*/ -}}
{{- $directory := .directory -}}
{{- if not $directory -}}
  {{- fail "templateData.directory is missing in ca.json" -}}
{{- end -}}
{{- range $claim, $ := .Token -}}
  {{- if not (has $claim (list "iss" "aud" "sub" "iat" "nbf" "exp" "jti" "sans" "certificate")) -}}
    {{- fail (printf "the token has an unknown claim: %s" $claim) -}}
  {{- end -}}
{{- end -}}
{{- $certificate := .Token.certificate -}}
{{- if not (kindIs "map" $certificate) -}}
  {{- fail "the token does not describe a certificate" -}}
{{- end -}}
{{- range $name, $ := $certificate -}}
  {{- if not (has $name (list "serialNumber" "profile" "emails" "userPrincipalNames")) -}}
    {{- fail (printf "the token describes an unknown property: %s" $name) -}}
  {{- end -}}
{{- end -}}

{{- /* \z is the end of the text: $ would allow a line feed after it. */ -}}
{{- if not (regexMatch "\\A[A-Za-z0-9_.][A-Za-z0-9_.-]{0,62}\\$?\\z" .Token.sub) -}}
  {{- fail "the subject is not a user name" -}}
{{- end -}}
{{- if not (regexMatch "\\A[1-9][0-9]{19,38}\\z" $certificate.serialNumber) -}}
  {{- fail "the serial number is not a random decimal number of at most 127 bits" -}}
{{- end -}}
{{- $usages := index $directory.profiles $certificate.profile -}}
{{- if not $usages -}}
  {{- fail "the certificate profile is unknown" -}}
{{- end -}}

{{- $sans := list -}}
{{- range $email := $certificate.emails -}}
  {{- if not (regexMatch "\\A[!-?A-~]+@[A-Za-z0-9.-]+\\z" $email) -}}
    {{- fail "an e-mail address is malformed" -}}
  {{- end -}}
  {{- if not (has (lower (last (splitList "@" $email))) $directory.domains) -}}
    {{- fail "an e-mail address is not in an allowed domain" -}}
  {{- end -}}
  {{- $sans = append $sans (dict "type" "email" "value" $email) -}}
{{- end -}}
{{- range $name := $certificate.userPrincipalNames -}}
  {{- if not (regexMatch (printf "\\A[!-?A-~]+@%s\\z" (regexQuoteMeta $directory.realm)) $name) -}}
    {{- fail "a user principal name is not in the realm" -}}
  {{- end -}}
  {{- $sans = append $sans (dict "type" "1.3.6.1.4.1.311.20.2.3" "value" (printf "utf8:%s" $name)) -}}
{{- end -}}

{{- /*
step-ca compares `sans` with the CSR, and replaces a missing claim with the
subject. The gateway sends the e-mail addresses or, without any, a placeholder.
*/ -}}
{{- $expected := $certificate.emails | default (list "no-name@invalid") -}}
{{- if ne (toJson .Token.sans) (toJson $expected) -}}
  {{- fail "the SANs of the token are not the e-mail addresses of the certificate" -}}
{{- end -}}

{{- $names := list -}}
{{- $oids := list -}}
{{- range $usage := $usages -}}
  {{- if regexMatch "\\A[0-9.]+\\z" $usage -}}
    {{- $oids = append $oids $usage -}}
  {{- else -}}
    {{- $names = append $names $usage -}}
  {{- end -}}
{{- end -}}
{
  "subject": {"commonName": {{ toJson .Token.sub }}},
  "serialNumber": {{ toJson $certificate.serialNumber }},
  "sans": {{ toJson $sans }},
  "keyUsage": ["digitalSignature"],
  "extKeyUsage": {{ toJson $names }},
  "unknownExtKeyUsage": {{ toJson $oids }}
}
