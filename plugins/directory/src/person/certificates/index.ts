export { CertificatesTab } from './CertificatesTab';
export { useCertificates } from './useCertificates';
