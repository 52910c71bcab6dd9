import {
  useAppNavigate,
  useRouteRef,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { SearchField } from '@backstage/ui';
import { peopleRouteRef } from '../routes';
import { directoryTranslationRef } from '../translation';
import styles from './home.module.css';

/** A large search field that opens the people page with the text. */
export function Search() {
  const { t } = useTranslationRef(directoryTranslationRef);
  const people = useRouteRef(peopleRouteRef)?.() ?? '/';
  const navigate = useAppNavigate();

  return (
    <div role="search">
      <SearchField
        // eslint-disable-next-line jsx-a11y/no-autofocus -- the field is the purpose of the page
        autoFocus
        aria-label={t('home.search.title')}
        placeholder={t('home.search.placeholder')}
        className={styles.search}
        onSubmit={text => {
          const q = text.trim();
          navigate(q ? `${people}?${new URLSearchParams({ q })}` : people);
        }}
      />
    </div>
  );
}
