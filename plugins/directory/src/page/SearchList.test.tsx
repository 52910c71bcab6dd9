import { renderInTestApp } from '@backstage/frontend-test-utils';
import type { UseQueryResult } from '@tanstack/react-query';
import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { SearchList } from './SearchList';

it('keeps what is typed while an earlier text reaches the URL', async () => {
  const onSearch = jest.fn();
  let navigate: (text: string) => void;
  function Page() {
    const [text, setText] = useState('');
    navigate = setText;
    return (
      <SearchList
        text={text}
        onSearch={onSearch}
        label="Search"
        placeholder=""
        query={{ data: 0, error: null } as UseQueryResult<number>}
        total={String}
        skeleton={null}
      >
        {() => null}
      </SearchList>
    );
  }
  renderInTestApp(<Page />);
  const field = await screen.findByRole('searchbox');

  await userEvent.type(field, 'al');
  await waitFor(() => expect(onSearch).toHaveBeenLastCalledWith('al'));
  await userEvent.type(field, 'i');
  act(() => navigate('al'));
  expect(field).toHaveValue('ali');

  await waitFor(() => expect(onSearch).toHaveBeenLastCalledWith('ali'));
  act(() => navigate('ali'));
  expect(field).toHaveValue('ali');

  act(() => navigate('al'));
  expect(field).toHaveValue('al');

  // The URL still contains the text that is restored.
  await userEvent.type(field, 'x');
  await waitFor(() => expect(onSearch).toHaveBeenCalledTimes(3));
  await userEvent.type(field, '{Backspace}');
  await waitFor(() => expect(onSearch).toHaveBeenCalledTimes(4));
  expect(onSearch).toHaveBeenLastCalledWith('al');
});

/** Renders a list with two links as results. */
async function renderList(onSearch = jest.fn()) {
  renderInTestApp(
    <SearchList
      text=""
      onSearch={onSearch}
      label="Search"
      placeholder=""
      query={{ data: 0, error: null } as UseQueryResult<number>}
      total={String}
      skeleton={null}
    >
      {() => (
        <ul>
          <li>
            <a href="/1">First</a>
          </li>
          <li>
            <a href="/2">Second</a>
          </li>
        </ul>
      )}
    </SearchList>,
  );
  return await screen.findByRole('searchbox');
}

it('moves to the first result with the down arrow alone', async () => {
  const field = await renderList();
  for (const modifier of ['altKey', 'ctrlKey', 'metaKey', 'shiftKey']) {
    fireEvent.keyDown(field, { key: 'ArrowDown', [modifier]: true });
    expect(field).toHaveFocus();
  }
  fireEvent.keyDown(field, { key: 'ArrowDown' });
  expect(screen.getByRole('link', { name: 'First' })).toHaveFocus();
});

it.each([30, 51, 118, 249])(
  'searches at most four times a second when a letter is typed every %i ms',
  async interval => {
    const onSearch = jest.fn();
    const field = await renderList(onSearch);
    jest.useFakeTimers();
    try {
      let typed = '';
      for (let time = 0; time < 10_000; time += interval) {
        typed += 'a';
        fireEvent.change(field, { target: { value: typed } });
        act(() => jest.advanceTimersByTime(interval));
      }
      act(() => jest.advanceTimersByTime(1000));
      expect(onSearch.mock.calls.length).toBeLessThanOrEqual(42);
      expect(onSearch).toHaveBeenLastCalledWith(typed);
    } finally {
      jest.useRealTimers();
    }
  },
);
