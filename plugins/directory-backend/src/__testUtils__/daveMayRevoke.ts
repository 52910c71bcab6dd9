/** The `directory.access` of a gateway where one may do more than the others. */
export const daveMayRevoke = [
  {
    principals: ['*'],
    operations: ['directory.read', 'directory.certificate.sign'],
  },
  {
    principals: ['dave'],
    operations: ['directory.certificate.revoke'],
  },
];
