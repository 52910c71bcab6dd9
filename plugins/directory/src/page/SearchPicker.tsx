import { Combobox } from '@backstage/ui';
import type { DirectoryClient } from '@directory-gateway/backstage-plugin-directory-common';
import { useState } from 'react';
import type { Key } from 'react-aria-components';
import { useDirectoryQuery } from '../api/useDirectoryQuery';
import { useDebounced } from './SearchList';
import { SectionError } from './states';

/** A suggested user or group. */
interface Suggestion {
  /** User or group name. */
  id: string;
  label: string;
  description?: string;
}

/**
 * Field that suggests users or groups while the user types. When the search
 * fails, shows the error and a retry button instead.
 */
export function SearchPicker(props: {
  kind: 'users' | 'groups';
  label: string;
  placeholder: string;

  /** Searches the suggestions on the server. */
  load: (
    client: DirectoryClient,
    text: string,
    signal: AbortSignal,
  ) => Promise<readonly Suggestion[]>;

  /** Called with the name of the chosen user or group. */
  onPick: (id: string) => void;
}) {
  const { kind, label, placeholder, load, onPick } = props;
  const [typed, setTyped] = useState('');
  const [picked, setPicked] = useState<Key | null>(null);
  const settled = useDebounced(typed.trim());
  const { data, error, isFetching, refetch } = useDirectoryQuery({
    key: ['suggestions', kind, settled],
    enabled: settled !== '',
    keepPrevious: true,
    load: (client, signal) => load(client, settled, signal),
  });

  function handleInput(text: string) {
    setTyped(text);
    if (text === '') {
      setPicked(null); // so that the same one can be picked again
    }
  }

  // The list of the field would report that nothing was found.
  if (error && settled) {
    return <SectionError error={error} onRetry={refetch} />;
  }
  return (
    <Combobox
      label={label}
      placeholder={placeholder}
      options={data ?? []}
      search={{ mode: 'server', inputValue: typed, onInputChange: handleInput }}
      loading={{ state: isFetching ? 'filtering' : 'idle' }}
      value={picked}
      onChange={key => {
        setPicked(key); // closes the list
        if (key !== null) {
          onPick(String(key));
        }
      }}
    />
  );
}
