import { About } from './About';
import { AlternativeNames } from './AlternativeNames';
import styles from './CertificateView.module.css';
import { Chain } from './Chain';
import { Fingerprints } from './Fingerprints';
import { Revocation } from './Revocation';
import { Usages } from './Usages';
import type { CertificateDetails } from './useCertificate';

/** All that a certificate says: who it is for at the left, by whom at the right. */
export function CertificateView({ details }: { details: CertificateDetails }) {
  const { certificate, chain } = details;
  return (
    <>
      <Revocation certificate={certificate} />
      <div className={styles.certificate}>
        <div className={styles.column}>
          <About details={details} />
          <Fingerprints certificate={certificate} />
        </div>
        <div className={styles.column}>
          <Chain certificate={certificate} chain={chain} />
          <AlternativeNames certificate={certificate} />
          <Usages leaf={chain[0]} />
        </div>
      </div>
    </>
  );
}
