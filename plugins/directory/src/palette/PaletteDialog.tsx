import {
  useAppHref,
  useAppNavigate,
  useTranslationRef,
} from '@backstage/frontend-plugin-api';
import { ButtonIcon, ButtonLink, Dialog, Text } from '@backstage/ui';
import {
  RiAwardLine,
  RiBookOpenLine,
  RiCloseLine,
  RiGroupLine,
  RiMessage3Line,
  RiSearchLine,
} from '@remixicon/react';
import {
  type KeyboardEvent,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import {
  Autocomplete,
  Header,
  Heading,
  Input,
  ListBox,
  ListBoxItem,
  ListBoxSection,
  TextField,
} from 'react-aria-components';
import { ColoredAvatar } from '../components/Avatar';
import { CopyButton } from '../components/CopyButton';
import { DirectoryText, visibleText } from '../components/DirectoryText';
import { useChatServers } from '../components/LinkList';
import { safeHref } from '../components/safeHref';
import { useDebounced } from '../page/SearchList';
import { contactsOf } from '../person/contactsOf';
import { directoryTranslationRef, formatCount } from '../translation';
import styles from './PaletteDialog.module.css';
import { type PaletteInput, readInput } from './readInput';
import { type Result, type Section, useSections } from './useSections';

/** Delay between the last keystroke and the search, in milliseconds. */
const DELAY = 50;

/** The command palette: a single field that searches everything. */
export function PaletteDialog(props: {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  const { isOpen, onOpenChange } = props;
  return (
    <Dialog
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      width={640}
      height="32rem"
    >
      <Finder onClose={() => onOpenChange(false)} />
    </Dialog>
  );
}

/** The field and its results. Enter opens the active result. */
function Finder({ onClose }: { onClose: () => void }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const [text, setText] = useState('');
  const [isRefused, setRefused] = useState(false);
  const settled = useDebounced(text, DELAY);
  const input = useMemo(() => readInput(settled), [settled]);
  const isTyping = text !== settled;
  const sections = useSections(input);
  const results = sections.flatMap(section => section.results);
  const [focused, setFocused] = useState<string>();
  const active = results.find(({ id }) => id === focused) ?? results[0];
  const openResult = useOpenResult({
    result: isUpToDate(sections, active) && !isTyping ? active : undefined,
    onClose,
  });
  const notices = useNotices({ input, sections, isRefused, isTyping });

  function handleChange(next: string) {
    const isSecret = readInput(next).kind === 'secret';
    setRefused(isSecret);
    setText(isSecret ? '' : next);
    setFocused(undefined);
    openResult.cancel();
  }

  function handleKey(event: KeyboardEvent) {
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      event.stopPropagation();
      openResult.request(event.ctrlKey || event.metaKey ? 'newTab' : 'here');
    }
  }

  return (
    <Autocomplete inputValue={text} onInputChange={handleChange}>
      <Heading slot="title" className={styles.title}>
        {t('palette.title')}
      </Heading>
      {/* eslint-disable-next-line jsx-a11y/no-static-element-interactions -- handles keys before the list does */}
      <div className={styles.top} onKeyDownCapture={handleKey}>
        <TextField
          // eslint-disable-next-line jsx-a11y/no-autofocus -- the field is the purpose of the dialog
          autoFocus
          aria-label={t('palette.label')}
          className={styles.field}
        >
          <RiSearchLine aria-hidden="true" className={styles.icon} />
          <Input
            role="combobox"
            aria-expanded={results.length > 0}
            placeholder={t('palette.placeholder')}
            className={styles.input}
          />
        </TextField>
        <ButtonIcon
          slot="close"
          aria-label={t('palette.close')}
          icon={<RiCloseLine />}
          variant="tertiary"
        />
      </div>
      <div className={styles.scrolled}>
        <div role="status">
          {notices.map(notice => (
            <Text key={notice} as="p" className={styles.notice}>
              {notice}
            </Text>
          ))}
        </div>
        <ListBox
          aria-label={t('palette.results')}
          className={styles.list}
          shouldFocusOnHover
          onAction={id =>
            openResult.open(results.find(result => result.id === id))
          }
        >
          {sections
            .filter(section => section.results.length > 0)
            .map(section => (
              <ListBoxSection
                key={section.id}
                id={section.id}
                className={section.isPending ? styles.old : undefined}
              >
                <Header className={styles.header}>{section.title}</Header>
                {section.results.map(result => (
                  <ListBoxItem
                    key={result.id}
                    id={result.id}
                    textValue={visibleText(result.title)}
                    className={styles.item}
                    data-active={result === active || undefined}
                  >
                    {({ isFocused }) => (
                      <Row
                        result={result}
                        section={section.id}
                        isFocused={isFocused}
                        onFocus={setFocused}
                      />
                    )}
                  </ListBoxItem>
                ))}
              </ListBoxSection>
            ))}
        </ListBox>
      </div>
      <div className={styles.bottom}>
        <Text variant="body-small" color="secondary" role="status">
          {results.length > 0 &&
            !isTyping &&
            t('palette.total', formatCount(results.length))}
        </Text>
        <Actions result={active} />
        <Text variant="body-small" color="secondary" className={styles.keys}>
          {t('palette.keys')}
        </Text>
      </div>
    </Autocomplete>
  );
}

/** Returns the notices above the results: hints and failures. */
function useNotices(options: {
  input: PaletteInput;
  sections: readonly Section[];

  /** Whether a private key was removed from the field. */
  isRefused: boolean;

  /** Whether the user is still typing. */
  isTyping: boolean;
}): readonly string[] {
  const { input, sections, isRefused, isTyping } = options;
  const { t } = useTranslationRef(directoryTranslationRef);
  if (input.kind === 'empty') {
    return [t(isRefused ? 'palette.secret' : 'palette.hint')];
  }
  if (input.kind !== 'text') {
    return [t(`palette.${input.kind}`)];
  }
  const failed = sections.filter(section => section.hasFailed);
  const isEmpty =
    !isTyping &&
    failed.length === 0 &&
    sections.every(({ isPending, results }) => !isPending && !results.length);
  return isEmpty
    ? [t('palette.none')]
    : failed.map(({ id }) => t(`palette.failed.${id}`));
}

/**
 * Whether all sections up to and including the section of the result are
 * loaded. Without a result, whether all sections are loaded.
 */
function isUpToDate(
  sections: readonly Section[],
  result: Result | undefined,
): boolean {
  const end = sections.findIndex(({ results }) =>
    results.some(one => one === result),
  );
  return sections
    .slice(0, end < 0 ? undefined : end + 1)
    .every(section => !section.isPending);
}

type Target = 'here' | 'newTab';

/**
 * Opens results. If the active result is still loading, it opens when it is
 * loaded.
 */
function useOpenResult(options: {
  /** The active result; `undefined` while it is loading. */
  result: Result | undefined;
  onClose: () => void;
}) {
  const { result, onClose } = options;
  const navigate = useAppNavigate();
  const base = useAppHref('/').replace(/\/$/, '');
  const requested = useRef<Target>(undefined);

  function open(opened: Result | undefined, target: Target = 'here') {
    requested.current = undefined;
    if (!opened) {
      return;
    }
    if (target === 'newTab') {
      window.open(`${base}${opened.href}`, '_blank', 'noopener');
    } else {
      navigate(opened.href);
    }
    onClose();
  }

  function request(target: Target | undefined) {
    if (target && result) {
      open(result, target);
    } else {
      requested.current = target;
    }
  }

  // A ref, because navigation renders this again before a state is updated.
  useEffect(() => {
    if (requested.current && result) {
      open(result, requested.current);
    }
  });

  return { open, request, cancel: () => request(undefined) };
}

const icons = {
  people: undefined,
  groups: <RiGroupLine />,
  catalog: <RiBookOpenLine />,
  certificates: <RiAwardLine />,
};

function Row(props: {
  result: Result;
  section: Section['id'];
  isFocused: boolean;
  onFocus: (id: string) => void;
}) {
  const { result, section, isFocused, onFocus } = props;
  const { id, title, detail, person } = result;

  // The list keeps its focus when the results change.
  useEffect(() => {
    if (isFocused) {
      onFocus(id);
    }
  });

  return (
    <>
      {person ? (
        <ColoredAvatar username={person.username} name={title} size="medium" />
      ) : (
        <span className={styles.kind} aria-hidden="true">
          {icons[section]}
        </span>
      )}
      <span className={styles.text}>
        <Text truncate>
          <DirectoryText value={title} />
        </Text>
        {detail && (
          <Text variant="body-small" color="secondary" truncate>
            <DirectoryText value={detail} />
          </Text>
        )}
      </span>
    </>
  );
}

/** Actions for a user: copy the e-mail address, open a chat. */
function Actions({ result }: { result: Result | undefined }) {
  const { t } = useTranslationRef(directoryTranslationRef);
  const servers = useChatServers();
  const contacts = result?.person ? contactsOf(result.person, servers) : [];
  const email = contacts.find(({ kind }) => kind === 'email')?.text;
  const chat = contacts.find(
    ({ kind, href }) => /^(?:matrix|irc)$/.test(kind) && safeHref(href ?? ''),
  );
  return (
    <>
      {email && (
        <CopyButton value={email} label={t('palette.copyEmail')} isLabeled />
      )}
      {chat?.href && (
        <ButtonLink
          href={safeHref(chat.href) ?? ''}
          target={/^https?:/.test(chat.href) ? '_blank' : undefined}
          rel="noopener noreferrer nofollow"
          size="small"
          variant="tertiary"
          iconStart={<RiMessage3Line />}
        >
          {t('palette.openChat')}
        </ButtonLink>
      )}
    </>
  );
}
