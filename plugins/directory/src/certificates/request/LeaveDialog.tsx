import { useTranslationRef } from '@backstage/frontend-plugin-api';
import {
  Button,
  Dialog,
  DialogBody,
  DialogFooter,
  DialogHeader,
  Text,
} from '@backstage/ui';
import { directoryTranslationRef } from '../../translation';
import type { LeaveGuard } from './useLeaveGuard';

/** Asks whether to leave a key behind that has not been saved. */
export function LeaveDialog({ guard }: { guard: LeaveGuard }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <Dialog
      isOpen={guard.isAsking}
      onOpenChange={isOpen => !isOpen && guard.stay()}
    >
      <DialogHeader>{t('certificates.newOne.leave.title')}</DialogHeader>
      <DialogBody>
        <Text as="p">{t('certificates.newOne.leave.description')}</Text>
      </DialogBody>
      <DialogFooter>
        <Button variant="secondary" onPress={guard.leave}>
          {t('certificates.newOne.leave.leave')}
        </Button>
        <Button onPress={guard.stay}>
          {t('certificates.newOne.leave.stay')}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}
