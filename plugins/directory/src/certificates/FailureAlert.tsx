import { Alert } from '@backstage/ui';
import { useFailureWords } from '../states/useFailureWords';

/** Why something was not done, in the server's words; what was entered stays. */
export function FailureAlert({ error }: { error: unknown }) {
  const { title, message, reference } = useFailureWords(error);
  return (
    <Alert
      role="alert"
      status="danger"
      icon
      title={title}
      description={[message, reference].filter(Boolean).join(' · ')}
    />
  );
}
