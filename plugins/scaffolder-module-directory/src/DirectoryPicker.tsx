import { parseEntityRef, stringifyEntityRef } from '@backstage/catalog-model';
import {
  coreApis,
  useApi,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import type { FieldExtensionComponentProps } from '@backstage/plugin-scaffolder-react';
import {
  BgProvider,
  Combobox,
  ComboboxItem,
  Flex,
  Text,
  useBgConsumer,
  VisuallyHidden,
} from '@backstage/ui';
import {
  createDirectoryClient,
  entityNameOf,
} from '@directory-gateway/backstage-plugin-directory-common';
import { useEffect, useMemo, useRef, useState } from 'react';
import { UNSAFE_PortalProvider as PortalProvider } from 'react-aria';
import { ComboBoxContext } from 'react-aria-components';
import { createPortal } from 'react-dom';
import styles from './DirectoryPicker.module.css';
import {
  type Entry,
  type PickedKind,
  MIN_SEARCH_LENGTH,
  searchEntries,
} from './searchEntries';
import { directoryPickerTranslationRef } from './translation';

/** Properties of both fields. The value is an entity reference. */
export type FieldProps = FieldExtensionComponentProps<
  string,
  { namespace?: string }
>;

interface Option {
  /** The entity reference. */
  id: string;

  /** Name in the directory, shown in the input. */
  textValue: string;
  description?: string;
  isDisabled?: boolean;
}

/** Delay between the last keystroke and the search, in milliseconds. */
const DEBOUNCE_MS = 50;

/**
 * A field for one user or group. Searches the directory while the user types;
 * before that, it shows the user's colleagues or groups.
 */
export function DirectoryPicker(props: FieldProps & { kind: PickedKind }) {
  const { kind, uiSchema, schema, idSchema, formData, onChange } = props;
  const { t } = useTranslationRef(directoryPickerTranslationRef);
  // The default form has a white background that @backstage/ui is not aware of.
  const { bg = 'neutral-1' } = useBgConsumer();
  const namespace = uiSchema['ui:options']?.namespace ?? 'default';
  const [chosen, setChosen] = useState<Option>();
  const preset: Option | null = formData
    ? { id: formData, textValue: nameOf(formData, { kind, namespace }) }
    : null;
  const selected = chosen && chosen.id === formData ? chosen : preset;

  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const [text, setText] = useState(selected?.textValue ?? '');
  const { state, entries } = useEntries({
    kind,
    // The name of the selected entry is not a search text.
    text: text === selected?.textValue ? '' : text,
    isOpen,
  });
  const hasErrors = (props.rawErrors ?? []).length > 0;
  const isUnavailable = state === 'unavailable';
  const options: Option[] = isUnavailable
    ? [{ id: 'unavailable', textValue: t('unavailable'), isDisabled: true }]
    : entries.map(({ name, description }) => ({
        id: stringifyEntityRef({ kind, namespace, name: entityNameOf(name) }),
        textValue: name,
        description,
      }));
  // Without the selected entry, Escape would open the list again: the text that
  // it restores would differ from that of the selected option, which is empty.
  if (selected && !options.some(({ id }) => id === selected.id)) {
    options.push(selected);
  }

  return (
    // The Combobox shows that it is required but does not set aria-required.
    <ComboBoxContext.Provider value={{ isRequired: props.required }}>
      <BgProvider bg={bg}>
        <PortalProvider getContainer={() => list.current}>
          <Combobox
            label={uiSchema['ui:title'] ?? schema.title ?? t(`${kind}.label`)}
            description={uiSchema['ui:description'] ?? schema.description}
            placeholder={t(`${kind}.placeholder`)}
            search={{ mode: 'server' }}
            items={{
              items: options,
              filterText: text,
              setFilterText: next => {
                setText(next);
                if (next === '' && selected) {
                  onChange(undefined);
                }
              },
              loadingState: state === 'loading' ? 'filtering' : 'idle',
              loadMore: () => {},
            }}
            value={selected}
            onChange={option => {
              setChosen(option ?? undefined);
              onChange(option?.id);
            }}
            onOpenChange={setIsOpen}
            isRequired={props.required}
            isDisabled={props.disabled}
            isReadOnly={props.readonly}
            // The form shows the errors of the value in an element with this ID.
            isInvalid={hasErrors || undefined}
            aria-describedby={hasErrors ? `${idSchema.$id}__error` : undefined}
            validationBehavior="aria"
            validate={() => (isUnavailable ? t('unavailable') : undefined)}
          >
            {({ id, textValue, description, isDisabled }) => (
              <ComboboxItem
                id={id}
                textValue={textValue}
                isDisabled={isDisabled}
                showSelectionIndicator
              >
                <Flex direction="column" gap="0">
                  <Text as="div">{textValue}</Text>
                  {description && (
                    <Text as="div" variant="body-small" color="secondary">
                      {description}
                    </Text>
                  )}
                </Flex>
              </ComboboxItem>
            )}
          </Combobox>
        </PortalProvider>
      </BgProvider>
      {/* The list, whose class the Combobox does not let us set, is rendered in
          this element. */}
      {createPortal(<div ref={list} className={styles.list} />, document.body)}
      {/* React Aria hides other live regions while the list is open. */}
      <VisuallyHidden role="status" data-live-announcer="true">
        {isUnavailable && t('unavailable')}
      </VisuallyHidden>
    </ComboBoxContext.Provider>
  );
}

/**
 * Returns the name if the value is a reference with the field's kind and
 * namespace, otherwise the value.
 */
function nameOf(
  value: string,
  context: { kind: PickedKind; namespace: string },
): string {
  const { kind, namespace } = context;
  try {
    const { name } = parseEntityRef(value, {
      defaultKind: kind,
      defaultNamespace: namespace,
    });
    const isOwn = stringifyEntityRef({ kind, namespace, name }) === value;
    return isOwn ? name : value;
  } catch {
    return value;
  }
}

interface SearchResult {
  state: 'loading' | 'loaded' | 'unavailable';

  /** Results; while loading, those of the previous search. */
  entries: Entry[];
}

/**
 * Searches while the list is open. Changed text aborts the previous search;
 * reopening the list repeats it.
 */
function useEntries(options: {
  kind: PickedKind;
  text: string;
  isOpen: boolean;
}): SearchResult {
  const { kind, isOpen } = options;
  const folded = options.text.trim();
  const text = Array.from(folded).length < MIN_SEARCH_LENGTH ? '' : folded;
  const { fetch } = useApi(coreApis.fetch);
  const client = useMemo(
    () => createDirectoryClient({ baseUrl: 'plugin://directory/v1', fetch }),
    [fetch],
  );
  const [result, setResult] = useState<SearchResult>({
    state: 'loading',
    entries: [],
  });

  useEffect(() => {
    if (!isOpen) {
      return undefined;
    }
    const controller = new AbortController();
    const { signal } = controller;
    const search = async () => {
      const next = await searchEntries(client, { kind, text, signal }).then(
        (entries): SearchResult => ({ state: 'loaded', entries }),
        (): SearchResult => ({ state: 'unavailable', entries: [] }),
      );
      if (!signal.aborted) {
        setResult(next);
      }
    };
    setResult(({ entries }) => ({ state: 'loading', entries }));
    const timer = setTimeout(search, text ? DEBOUNCE_MS : 0);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [client, kind, text, isOpen]);

  return result;
}
