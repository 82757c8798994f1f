"""Words that stand where a secret could."""

from __future__ import annotations

_EXAMPLES = """
a access accesstoken account actual admin an and any api apikey apitoken app as auth authentication authtoken aws
bar base64 baz bearer bot change changeit changeme client code config confirm confirmation correct credential
credentials current database db default demo dummy encoded encrypted enter env environment example existing fake
field file fill foo for from generate generated get github given go goes hash hashed here hidden hint hunter id in
input insert invalid is it key label long me missing mock must my mypassword mysecret mytoken name new none not null
of old openai or pass passphrase passwd password passwords pin placeholder plain plaintext please provide put pw pwd
random real redacted repeat replace required reset root same sample secret secretaccesskey secretkey secrets service
set shared shhh some something stored string strong super test testing text the this to todo token tokens type
undefined update use user username userpassword value var variable verysecret weak with wrong www your yourpassword
"""
_STOPS = """
a above always an and any are array ask async authentication authorization auto automatic await below bool boolean
byte bytes can cannot change changed char cls confirm confirmed const current def default deprecated disable
disabled else email empty enable enabled encrypted env environ example experimental expired external false field
file final float for forgot forgotten form from function hashed here hidden how http https if import in incorrect
input int integer interactive invalid is keychain label let list login logon logout manager manual map masked may
mismatch missing must my n/a na name never new nil no none not null number object of off old on only optional or our
path plain plaintext policy private prompt protected public redacted required reset return safe same sample saved
secret secure secured see self sent set should shown sign static stdin stored str string strong supported tba tbd
text that the these this to todo true type unchanged undefined unknown unset unsupported uri url user username value
var varchar vault visible void was weak what when where why will with without wrong yes your
"""
_PROGRAMS = """
c c++ cc cjs cpp cs csharp css cts cu dart elixir erl erlang ex exs f90 fs go golang groovy h haskell hpp hs html
java javascript jl js json5 jsx julia kotlin kt less lua m mjs ml mm mts nim objc objectivec pascal perl php pl py
pycon pyi python python3 r rb rs ruby rust sass scala scss sol svelte swift ts tsx typescript v vb vue zig
"""
_SENTENCES = """
about account accounts add admin after again allow allowed asked authenticate based because been before being between
both but case character characters choose contain contains could create created digit digits does each every expire
expires fails find first follow following given gives had has have having how into its just keep keeps kept know last
least leave length letter letters like lowercase made make makes many minimum more most much need needs next numbers
once one other passed people provided rather read same screen see send sent settings since special stays than their
them then there they those through times under until uppercase user users using very was we were which while who whose
work works would you
"""
EXAMPLE_WORDS = frozenset(_EXAMPLES.split())
"""What examples are made of: a value of nothing but these words says "your secret goes here"."""
STOP_WORDS = frozenset(_STOPS.split())
"""Words that describe or type a secret, or go on with the sentence."""
SENTENCE_WORDS = STOP_WORDS | EXAMPLE_WORDS - {"correct"} | frozenset(_SENTENCES.split())
"""Words that sentences about passwords are made of, and pass phrases hardly ever."""
PROGRAMMING_LANGUAGES = frozenset(_PROGRAMS.split())
"""Languages in which a bare word is a name, not a value: as they stand behind a fence or in a file's suffix."""
