import type { DirectoryPublicDocumentsExtensionPoint } from '@directory-gateway/backstage-plugin-directory-node';
import { readPemBlocks } from '@directory-gateway/x509';
import { X509Certificate, createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { RootFiles } from './config';
import { type Issuers, nameOf } from './issuers/Issuers';
import type { RevocationLists } from './revocation/RevocationLists';

/**
 * Publishes the certificate and the CRL of every issuer on record and of the
 * configured roots, at the URLs that certificates contain.
 */
export async function publishIssuers(options: {
  readonly publicDocuments: DirectoryPublicDocumentsExtensionPoint;
  readonly issuers: Issuers;
  readonly lists: RevocationLists;
  readonly roots: readonly RootFiles[];
}): Promise<void> {
  const { publicDocuments, issuers, lists } = options;
  const roots = new Map<string, RootFiles>();
  for (const files of options.roots) {
    roots.set(await nameOfRoot(files), files);
  }
  publicDocuments.addPublicDocument({
    path: '/ca/:issuer/certificate',
    contentType: 'application/pkix-cert',
    async read(name) {
      const root = roots.get(name);
      return root
        ? await readDocument(root.certificateFile, 'CERTIFICATE')
        : issuers.recorded.get(name)?.chain[0];
    },
  });
  publicDocuments.addPublicDocument({
    path: '/ca/:issuer/crl',
    contentType: 'application/pkix-crl',
    async read(name) {
      const root = roots.get(name);
      if (root) {
        return root.crlFile
          ? await readDocument(root.crlFile, 'X509 CRL')
          : undefined;
      }
      const issuer = issuers.recorded.get(name);
      return issuer && (await lists.read(issuer.id));
    },
  });
}

async function nameOfRoot({ certificateFile }: RootFiles): Promise<string> {
  const der = await readDocument(certificateFile, 'CERTIFICATE');
  const spki = new X509Certificate(der).publicKey.export({
    type: 'spki',
    format: 'der',
  });
  return nameOf({ id: createHash('sha256').update(spki).digest('hex') });
}

/** Reads a PEM or DER file, which may be replaced at any time. */
async function readDocument(path: string, label: string): Promise<Buffer> {
  const bytes = await readFile(path);
  const text = bytes.toString('latin1');
  return text.includes(`-----BEGIN ${label}-----`)
    ? readPemBlocks(text, { label })[0]
    : bytes;
}
