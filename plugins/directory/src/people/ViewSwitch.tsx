import { useTranslationRef } from '@backstage/frontend-plugin-api';
import { ToggleButton, ToggleButtonGroup } from '@backstage/ui';
import { RiLayoutGridLine, RiTableLine } from '@remixicon/react';
import { directoryTranslationRef } from '../translation';
import type { PeopleQuestion } from './peopleQuery';

type View = PeopleQuestion['view'];

/** Options of {@link ViewSwitch}. */
export interface ViewSwitchProps {
  view: View;
  onChange: (view: View) => void;
}

/** Cards or a table. */
export function ViewSwitch({ view, onChange }: ViewSwitchProps) {
  const { t } = useTranslationRef(directoryTranslationRef);
  return (
    <ToggleButtonGroup
      aria-label={t('people.view.label')}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[view]}
      onSelectionChange={([key]) => onChange(key as View)}
    >
      <ToggleButton
        id="cards"
        aria-label={t('people.view.cards')}
        iconStart={<RiLayoutGridLine />}
      />
      <ToggleButton
        id="table"
        aria-label={t('people.view.table')}
        iconStart={<RiTableLine />}
      />
    </ToggleButtonGroup>
  );
}
