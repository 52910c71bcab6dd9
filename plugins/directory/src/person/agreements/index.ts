export { AgreementsTab } from './AgreementsTab';
export { useAgreements } from './useAgreements';
