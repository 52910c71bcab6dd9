import { foldWords } from './foldWords';

describe('foldWords', () => {
  it.each([
    ['Liddell, Alice', ['liddell', 'alice']],
    ['  José  Ñandú ', ['jose', 'nandu']],
    ['Łukasz Strauß-Øystein', ['lukasz', 'strauss', 'oystein']],
    ['mary-jane_w', ['mary', 'jane', 'w']],
    ['山田 太郎', ['山田', '太郎']],
    ['ﬁnal', ['final']],
    ['...', []],
  ])('splits %j', (text, words) => {
    expect(foldWords(text)).toEqual(words);
  });
});
